package otf2

import (
	"slices"
	"strings"
)

// Name is what the format is called.
const Name = "otf2"

// Sniff recognises an archive by the start of its anchor file, or by the names
// in the folder that holds one.
func Sniff(head []byte, names []string) bool {
	if names == nil {
		return isAnchor(head)
	}
	return slices.ContainsFunc(names, func(name string) bool { return strings.HasSuffix(name, ".otf2") })
}
