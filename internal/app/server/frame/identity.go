package frame

import (
	"encoding/hex"
	"hash"
	"strings"
)

// IdentityRows is how many rows the hash of a run looks at, evenly spread:
// enough to tell runs apart, and the same for a small and a large one.
const IdentityRows = 4096

// Identity names a run by a hash of its content, so that a link finds the same
// data again wherever it lies.
func Identity(name string, content hash.Hash) string {
	return slug(name) + "-" + hex.EncodeToString(content.Sum(nil)[:4])
}

// slug makes a short name that needs no escaping in a link.
func slug(name string) string {
	name, _, _ = strings.Cut(strings.ToLower(name), ".")
	name = strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, name), "-")
	if name == "" {
		return "run"
	}
	return name[:min(len(name), 24)]
}
