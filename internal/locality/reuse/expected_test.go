package reuse

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/formats"
	"github.com/isobath/isobath/internal/machine/cachesim"
)

// expected is a file of shared/data/locality/expected/reuse, made by a plain
// program of its own.
type expected struct {
	Trace     string            `json:"trace"`
	Records   uint64            `json:"records"`
	LineBytes int               `json:"line_bytes"`
	Lines     uint64            `json:"lines"`
	Histogram map[string]uint64 `json:"histogram"`
	Misses    map[string]uint64 `json:"misses"`
	ByLine    []struct {
		File       string            `json:"file"`
		Line       int               `json:"line"`
		References uint64            `json:"references"`
		Histogram  map[string]uint64 `json:"histogram"`
	} `json:"by_line"`
	ByObject []struct {
		Object     string            `json:"object"`
		References uint64            `json:"references"`
		Histogram  map[string]uint64 `json:"histogram"`
	} `json:"by_object"`
	Pages struct {
		PageBytes int               `json:"page_bytes"`
		Histogram map[string]uint64 `json:"histogram"`
	} `json:"pages"`
	Caches []struct {
		Size     int    `json:"size"`
		Ways     int    `json:"ways"`
		Line     int    `json:"line_bytes"`
		Missing  uint64 `json:"missing_references"`
		Fetched  uint64 `json:"lines_fetched"`
		UsedByte uint64 `json:"bytes_used"`
	} `json:"caches"`
	WorkingSet struct {
		Window uint64   `json:"window"`
		Lines  []uint32 `json:"lines"`
	} `json:"working_set"`
	Strides []struct {
		PC       string     `json:"pc"`
		Top      [][2]int64 `json:"top"`
		Distinct int        `json:"distinct"`
	} `json:"strides"`
}

func TestExpected(t *testing.T) {
	dir := test.Shared(t, "locality")
	files, _ := filepath.Glob(filepath.Join(dir, "expected", "reuse", "*.json"))
	if len(files) < 8 {
		t.Fatalf("%d expected results", len(files))
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			var want expected
			text, err := os.ReadFile(file)
			if err == nil {
				err = json.Unmarshal(text, &want)
			}
			if err != nil {
				t.Fatal(err)
			}
			src, _, err := formats.OpenRefs(filepath.Join(dir, "traces", name+".csv.gz"), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			all, err := refs.All(src)
			if err != nil {
				t.Fatal(err)
			}
			compareExpected(t, &want, all, src.About())
		})
	}
}

func measure(all []refs.Ref, o Options) *Result {
	p := NewPass(o)
	p.Add(all)
	return p.Result()
}

func compareExpected(t *testing.T, want *expected, all []refs.Ref, about *refs.About) {
	r := measure(all, Options{})
	if r.References != want.Records || r.Lines != want.Lines || r.LineBytes != want.LineBytes {
		t.Errorf("%d references, %d lines of %d", r.References, r.Lines, r.LineBytes)
	}
	exact := map[string]uint64{"first": r.First}
	for d, n := range r.Distances {
		if n > 0 {
			exact[strconv.Itoa(d)] = n
		}
	}
	diff(t, "histogram", want.Histogram, exact)
	for size, n := range want.Misses {
		lines, _ := strconv.ParseUint(size, 10, 64)
		if got := r.Misses(lines); got != n {
			t.Errorf("%s lines: %d misses, want %d", size, got, n)
		}
	}
	compareGroups(t, want, r, about)
	diff(t, "pages", bucketed(want.Pages.Histogram), counts(&r.Pages))
	if r.WorkingSet.Window != want.WorkingSet.Window {
		t.Errorf("window of %d", r.WorkingSet.Window)
	}
	diff(t, "working set", want.WorkingSet.Lines, r.WorkingSet.Lines)
	compareStrides(t, want, r)
	for _, c := range want.Caches {
		g := cachesim.Geometry{Size: c.Size, Ways: c.Ways, Line: c.Line}
		r := measure(all, Options{Line: c.Line, Cache: g})
		if r.Fetched != c.Fetched || r.Used != c.UsedByte {
			t.Errorf("cache %v: %d lines fetched, %d bytes used, want %d and %d", g, r.Fetched, r.Used, c.Fetched, c.UsedByte)
		}
		if got := missing(all, g); got != c.Missing {
			t.Errorf("cache %v: %d references miss, want %d", g, got, c.Missing)
		}
	}
}

// missing counts the references that miss with cachesim's fast path.
func missing(all []refs.Ref, g cachesim.Geometry) (n uint64) {
	c := cachesim.NewLRU(g)
	for _, r := range all {
		miss := false
		for line := r.Addr / uint64(g.Line); line <= (r.Addr+uint64(max(r.Size, 1))-1)/uint64(g.Line); line++ {
			miss = !c.Access(line) || miss
		}
		if miss {
			n++
		}
	}
	return n
}

func compareGroups(t *testing.T, want *expected, r *Result, about *refs.About) {
	lines, objects := map[string]*Histogram{}, map[string]*Histogram{}
	merge := func(m map[string]*Histogram, key string, h *Histogram) {
		if m[key] == nil {
			m[key] = &Histogram{}
		}
		m[key].Merge(h)
	}
	for _, g := range r.Code {
		p := about.Places[g.Place]
		merge(lines, fmt.Sprint(p.File, ":", p.Line), &g.Lines)
	}
	for i, g := range r.Members {
		if g != nil {
			merge(objects, about.Objects[i].Name, &g.Lines)
		}
	}
	for _, l := range want.ByLine {
		key := fmt.Sprint(l.File, ":", l.Line)
		if lines[key] == nil || lines[key].Total() != l.References {
			t.Errorf("%s: %+v", key, lines[key])
			continue
		}
		diff(t, key, bucketed(l.Histogram), counts(lines[key]))
		delete(lines, key)
	}
	for _, o := range want.ByObject {
		if objects[o.Object] == nil || objects[o.Object].Total() != o.References {
			t.Errorf("object %q: %+v", o.Object, objects[o.Object])
			continue
		}
		diff(t, o.Object, bucketed(o.Histogram), counts(objects[o.Object]))
		delete(objects, o.Object)
	}
	if len(lines)+len(objects) > 0 {
		t.Errorf("too many: %v %v", slices.Collect(maps.Keys(lines)), slices.Collect(maps.Keys(objects)))
	}
}

func compareStrides(t *testing.T, want *expected, r *Result) {
	got := map[string]*CodeGroup{}
	for _, g := range r.Code {
		if g.Strides.Total() > 0 {
			got[fmt.Sprintf("%#x", g.PC)] = g
		}
	}
	for _, s := range want.Strides {
		g := got[s.PC]
		if g == nil {
			t.Errorf("no strides of %s", s.PC)
			continue
		}
		var top [][2]int64
		for _, k := range g.Strides.Top(3) {
			top = append(top, [2]int64{k.Bytes, int64(k.Count)})
		}
		diff(t, "strides of "+s.PC, s.Top, top)
		if n, more := g.Strides.Distinct(); n != s.Distinct || more {
			t.Errorf("%s has %d strides, want %d", s.PC, n, s.Distinct)
		}
		delete(got, s.PC)
	}
	if len(got) > 0 {
		t.Errorf("%d instructions too many", len(got))
	}
}

// bucketed puts exact distances into buckets.
func bucketed(exact map[string]uint64) map[int]uint64 {
	out := map[int]uint64{}
	for k, n := range exact {
		b := -1
		if k != "first" {
			d, _ := strconv.ParseUint(k, 10, 32)
			b = Bucket(uint32(d))
		}
		out[b] += n
	}
	return out
}

func counts(h *Histogram) map[int]uint64 {
	out := map[int]uint64{}
	if h.First > 0 {
		out[-1] = h.First
	}
	for b, n := range h.Counts {
		if n > 0 {
			out[b] = n
		}
	}
	return out
}

func diff(t *testing.T, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s: %s", what, d)
	}
}

// Distinct is how many different strides there are; more is true if there are
// more than were counted apart.
func (s *Strides) Distinct() (n int, more bool) { return len(s.keys), s.other > 0 }
