// Package packets holds records of ARM's Statistical Profiling Extension as
// hardware wrote them, for tests.
package packets

import (
	"encoding/hex"
	"strings"
)

// Recorded on Graviton (a load and a branch) and on an Ampere Altra (a load). The
// last ends with the first packet of another record.
const (
	Load = `b0 d0 c2 a1 ed 66 ba ff c0 00 00 00 00 00 65 80 5f 00 00 49 00 52 16 00 99 04 00 98 0c 00 b2 28 6b 09 03 37 0e ff 00
		9a 01 00 00 00 00 00 00 00 00 00 00 43 00 00 00 71 2e 65 2f 6a 0a 00 00 00`
	Branch = `b0 e0 b0 ef ed 66 ba ff c0 00 00 00 00 00 65 0e 00 00 00 4a 01 52 42 00 99 10 00 98 11 00 b1 e4 b0 ef ed 66 ba ff c0
		00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 71 8d 65 2f 6a 0a 00 00 00`
	Altra = `49 00 52 1e 03 99 51 01 98 f5 01 b2 50 9e d7 f1 3e 40 ff 00 9a 01 00 b3 50 9e d7 71 3f 40 00 80 43 0c 00 00
		71 b3 9a e9 bd 3e 07 00 00 b0 88 b6 cb 8f 22 d4 ff c0 00 00 00 00 00 00 00 00 00 00`
)

// Bytes returns the bytes of hexadecimal text; blanks do not count.
func Bytes(text string) []byte {
	b, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		panic(err) // the text is in the source
	}
	return b
}
