package layout

import (
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/data/refs"
)

// FuzzReadGiven: what users say about objects is refused, or makes a table that
// finds each of them.
func FuzzReadGiven(f *testing.F) {
	f.Add("p 0x100000 64000 32\nm 0x200000 524288 8\n")
	f.Add("allocation at heat.c:57 is u double[1024][1024]\n# x\nobject \"a\" is struct S[3]\n")
	f.Add("p 0xffffffffffffffff 18446744073709551615 0\n")
	f.Fuzz(func(t *testing.T, text string) {
		given, err := ReadGiven(strings.NewReader(text))
		if err != nil {
			return
		}
		table := NewTable(&refs.About{}, given, nil)
		for _, o := range given.objects {
			table.Number(&refs.Ref{Addr: o.Start, Size: 8})
		}
		table.Finish()
	})
}
