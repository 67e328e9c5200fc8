package references

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/memory/align"
)

// maxPaired bounds the rows of a side.
const maxPaired = 100_000

// paired says which row of this run each row of an earlier one is. Lines move with
// every edit, so they are matched by their text, as those of samples are.
func (s routes) paired(w http.ResponseWriter, r *http.Request, run *Refs) error {
	var ask PairedAsk
	if err := frame.ReadJSON(w, r, &ask); err != nil {
		return err
	}
	if len(ask.A) > maxPaired || len(ask.B) > maxPaired {
		return frame.BadRequest("%d and %d rows, of which at most %d a run can be paired", len(ask.A), len(ask.B), maxPaired)
	}
	a, release := s.Hold(ask.Before)
	if a == nil {
		return frame.BadRequest("there is no run %q to compare with", ask.Before)
	}
	defer release()
	b, releaseB := s.Hold(r.PathValue("id"))
	if b == nil {
		return frame.BadRequest("the run was closed")
	}
	defer releaseB()
	al := align.New(sideOf(a, ask.A), sideOf(b, ask.B), nil)
	return s.Answer(w, r, Paired{Rows: pairRows(al, ask.A, ask.B), Unmatched: frame.List(al.Unmatched)})
}

// sideOf is what rows name, with the texts of their files.
func sideOf(r *frame.Run, keys []PlaceKey) align.Side {
	side := align.Side{Text: r.SourceLines}
	for _, k := range keys {
		side.Files = append(side.Files, k.File)
		side.Functions = append(side.Functions, k.Function)
		side.Objects = append(side.Objects, k.Object)
	}
	for _, names := range []*[]string{&side.Files, &side.Functions, &side.Objects} {
		slices.Sort(*names)
		*names = slices.DeleteFunc(slices.Compact(*names), func(name string) bool { return name == "" })
	}
	return side
}

// key is what the row is about, as columns and their values.
func (k *PlaceKey) key() (by, values []string) {
	switch {
	case k.Line > 0:
		return []string{samples.File, samples.Line}, []string{k.File, strconv.Itoa(k.Line)}
	case k.Function != "":
		return []string{samples.Function}, []string{k.Function}
	}
	return []string{samples.Symbol}, []string{k.Object}
}

func pairRows(al *align.Alignment, a, b []PlaceKey) []int {
	name := func(by, values []string, other string) string {
		return strings.Join(slices.Concat(by, values, []string{other}), "\x00")
	}
	inB := map[string]int{}
	for i := range b {
		by, values := b[i].key()
		inB[name(by, values, b[i].Other)] = i
	}
	rows := make([]int, len(a))
	for i := range a {
		by, values := a[i].key()
		rows[i] = -1
		if there, _, ok := al.Key(by, values); ok {
			if j, ok := inB[name(by, there, a[i].Other)]; ok {
				rows[i] = j
			}
		}
	}
	return rows
}
