package cycle

import (
	"strings"
	"testing"
)

// oneLoop is a tree of one loop, or of none.
type oneLoop struct{ *Header }

func (o oneLoop) Around(pcs []uint64) (Header, bool) {
	if o.Header == nil || len(pcs) == 0 {
		return Header{}, false
	}
	return *o.Header, true
}

// TestAttach holds that turns are exact only if the loop they go around has as many: a
// window on one way through a branch counts that way, which is said, and a thinned trace
// or a loop whose own count is not certain proves nothing.
func TestAttach(t *testing.T) {
	const turns = 17
	lu := func(trips uint64, exact bool) *Header {
		return &Header{Text: "for (j = i + 1; j < n; j++) {", File: "lu.c", Line: 12, Entries: 1, Trips: trips, Exact: exact}
	}
	rebuilt := lu(turns+1, false)
	rebuilt.Rebuilt = true // the last test is an instruction too
	for name, tt := range map[string]struct {
		header *Header
		every  int
		exact  bool
		of     string
	}{
		"as many":               {lu(turns, true), 1, true, ""},
		"one path":              {lu(140, true), 1, false, "one path of the 140 turns of lu.c:12"},
		"one path of about":     {lu(140, false), 1, false, "one path of the about 140 turns of lu.c:12"},
		"fewer than are walked": {lu(9, true), 1, false, ""},
		"as many, not certain":  {lu(turns, false), 1, false, ""},
		"rebuilt":               {rebuilt, 1, true, ""},
		"thinned":               {lu(turns, true), 7, false, ""},
		"no loop around it":     {nil, 1, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			tr := fromSyms(loop(turns, 12))
			tr.Every = tt.every
			r, err := Analyse(t.Context(), tr, Options{Loops: oneLoop{tt.header}})
			if err != nil {
				t.Fatal(err)
			}
			c := r.Classes[0]
			if c.Turns != turns || c.Exact != tt.exact || c.Of() != tt.of {
				t.Errorf("%d turns, exact %v, %q; want %d, %v, %q", c.Turns, c.Exact, c.Of(), turns, tt.exact, tt.of)
			}
			if about := strings.Contains(c.Sentence, "about 17 turns"); about == tt.exact || !strings.Contains(c.Sentence, tt.of) {
				t.Errorf("sentence %q", c.Sentence)
			}
			if c.Header != nil && c.Header.Title() != "for j, lu.c:12" {
				t.Errorf("title %q", c.Header.Title())
			}
		})
	}
}
