package advice

import (
	"strings"
	"testing"
)

// FuzzReadMap: a text of changes is refused with a sentence, or is a plan.
func FuzzReadMap(f *testing.F) {
	for _, text := range []string{
		"object p fields x,vx to p.hot; rest to p.cold", "object p soa", "object v fields count,id,name", "object m element 4096 is 4160",
		"object p start 0 of 64", "object p order first-use", "object m element 8 is 1", "loops a.c:7 order i/16 j/16 i j", "pages 2M for m",
		"object \"p\" element 18446744073709551615 is 0\n# x",
	} {
		f.Add(text)
	}
	trace, table := sweep(f)
	f.Fuzz(func(t *testing.T, text string) {
		plan, err := ReadMap(strings.NewReader(text), trace, table)
		if err == nil && plan == nil {
			t.Errorf("%q: neither a plan nor an error", text)
		}
	})
}
