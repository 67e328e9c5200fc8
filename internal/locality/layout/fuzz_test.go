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
		lookUp(given)
	})
}

// lookUp asks for every object that is given, and for every variable kept.
func lookUp(given *Given) {
	table := NewTable(&refs.About{}, given, nil)
	all := given.objects
	if given.kept != nil {
		all = given.kept.variables
	}
	for _, o := range all {
		table.Member(&refs.Ref{Addr: o.Start, Size: 8})
	}
	table.Finish()
}

// FuzzKeptTypes: types that a run keeps are refused, or make a table that finds each
// variable.
func FuzzKeptTypes(f *testing.F) {
	f.Add([]byte(`{"version":1,"objects":[{"name":"p","start":4096,"bytes":640,"element":64,"type":"particle","fields":[{"name":"x","offset":8,"bytes":8}]}]}`))
	f.Add([]byte(`{"version":1,"objects":[{"start":18446744073709551615,"bytes":1,"element":1},{"name":"n","element":8}]}`))
	f.Fuzz(func(_ *testing.T, body []byte) {
		if given, err := (*Given)(nil).WithTypes(body); err == nil {
			lookUp(given)
		}
	})
}
