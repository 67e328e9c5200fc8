package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/app/server"
	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/base/test"
)

// drawTrace writes a trace of references that are drawn: sweeps with drawn strides
// and passes, elements of which some fields are used, pointers that jump, of one or
// several threads.
func drawTrace(t *testing.T, r *rand.Rand) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("thread,op,addr,size,pc,func,file,line,object,offset\n")
	threads := 1 + r.IntN(3)
	base := uint64(0x10_0000)
	for o := range 1 + r.IntN(3) {
		element := 8 << r.IntN(5)
		count := 200 + r.IntN(1500)
		fields := 1 + r.IntN(min(3, element/8))
		jumps := r.IntN(4) == 0
		back := r.IntN(3) // lines before the last that are stored to: sharing
		for pass := range 1 + r.IntN(4) {
			for i := range count {
				at := i
				if jumps {
					at = i * 7919 % count
				}
				for f := range fields {
					addr := base + uint64(at*element+8*f)
					fmt.Fprintf(&b, "%d,%c,%#x,8,%#x,work%d,a.c,%d,o%d,%d\n", 1+(i/(1+back)+pass)%threads, "LS"[f%2], addr, 0x400000+16*(8*o+f), o, 10*o+f+1, o, at*element+8*f)
				}
			}
		}
		base += uint64(count*element) + uint64(r.IntN(3))*4096 + 64*uint64(r.IntN(3))
	}
	path := filepath.Join(t.TempDir(), "drawn.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// carried is how a modelled number carries what it may be elsewhere: the fields,
// beside it, that hold the least and most over where memory lies, and the misses
// with an ideal prefetcher and with none. Of a list they are lists.
type carried struct{ places, prefetch string }

// Every number of an answer about misses is one of these, by the end of its path;
// one that is in no list fails the test, so that a new one is thought about.
var (
	// modelledNumbers depend on the machine, on places and on the prefetcher.
	modelledNumbers = map[string]carried{
		"base.misses": {"frames", "prefetch"}, "machine.misses": {"frames", "prefetch"}, // whatif.levels
		"groups[].base": {"base_bands.frames", "base_bands.prefetch"}, "groups[].machine": {"machine_bands.frames", "machine_bands.prefetch"},
		"base.dtlb_misses": {"dtlb_placements", "dtlb_prefetch"}, "base.walks": {"walk_placements", "walk_prefetch"},
		"machine.dtlb_misses": {"dtlb_placements", "dtlb_prefetch"}, "machine.walks": {"walk_placements", "walk_prefetch"},
		"advice[].levels[].now": {"now_frames", "now_prefetch"}, "advice[].levels[].then[]": {"then_frames", "then_prefetch"},
		"$.use.fetched": {"frames", "prefetch"}, "aliases.aliased": {"frames", "prefetch"},
		"$.loops[].misses": {"bands.frames", "bands.prefetch"}, "byLoop[].misses": {"frames", "prefetch"}, "$.misses": {"bands.frames", "bands.prefetch"},
		"now.levels[].misses": {"frames", "prefetch"}, "now.levels[].chosen": {"chosenFrames", "chosenPrefetch"},
		"then.levels[].misses": {"frames", "prefetch"}, "then.levels[].chosen": {"chosenFrames", "chosenPrefetch"},
		"objects[].misses": {"frames", "prefetch"}, "fields[].misses": {"frames", "prefetch"}, "places[].misses": {"frames", "prefetch"},
		"functions[].misses": {"frames", "prefetch"}, "byThread[].misses": {"frames", "prefetch"},
		"objects[].chosen": {"chosenBands.frames", "chosenBands.prefetch"}, "fields[].chosen": {"chosenBands.frames", "chosenBands.prefetch"}, "places[].chosen": {"chosenBands.frames", "chosenBands.prefetch"},
		"byLoop[].chosen": {"chosenBands.frames", "chosenBands.prefetch"}, "functions[].chosen": {"chosenBands.frames", "chosenBands.prefetch"}, "byThread[].chosen": {"chosenBands.frames", "chosenBands.prefetch"},
		"machines[].levels[].now": {"nowFrames", "nowPrefetch"}, "machines[].levels[].then": {"thenFrames", "thenPrefetch"},
	}
	// pairedNumbers are ranges over places themselves, with the range of an ideal
	// prefetcher beside them.
	pairedNumbers = map[string]string{"advice[].gain[]": "gain_prefetched", "instead[].gain[]": "gain_prefetched", "groups[].change": "change_prefetched", "advice[].levels[].then[]": "then_ideal"}
	// partNumbers are parts of a modelled number, or sums of it with known weights,
	// which stand beside it with its bands.
	partNumbers = []string{
		"base.missing_references", "machine.missing_references", "base.first", "machine.first", "base.capacity", "machine.capacity", "base.conflict", "machine.conflict", "base.prefetchable", "machine.prefetchable",
		"base.bytes_used", "machine.bytes_used", "memory.local", "memory.remote", "placements[].misses[]", "placements[].dtlb_misses", "placements[].walks", "placements[].gain", "advice[].together", "cost.now", "use.bytes_used",
		"groups[].use.fetched", "groups[].use.bytes_used", "groups[].use.bytes_per_line", "levels[].first", "levels[].full", "levels[].hidden", "objects[].fetched", "objects[].used", "fields[].fetched", "fields[].used",
		"places[].fetched", "places[].used", "functions[].fetched", "functions[].used", "byThread[].fetched", "byThread[].used", "byLoop[].fetched", "byLoop[].used", "evictions", "struct", "sets", "then.placements[][]",
		"coherence.now[]", "coherence.clocked", "coherence.then", "sharing.", // over schedules, of caches without limit: neither places nor prefetchers
	}
	// bandNumbers are the bands.
	bandNumbers = []string{"frames[]", "frames[][]", "prefetch[]", "prefetch[][]", "chosenFrames[]", "chosenPrefetch[]", "nowFrames[]", "nowPrefetch[]", "thenFrames[]", "thenPrefetch[]", "now_frames[]", "then_frames[]", "now_prefetch[]", "then_prefetch[]", "then_ideal[]",
		"dtlb_placements[]", "walk_placements[]", "dtlb_prefetch[]", "walk_prefetch[]", "placements[]", "gain_prefetched[]", "change_prefetched"}
	// exactNumbers are counted or described, not modelled.
	exactNumbers = regexp.MustCompile(`(^|\.)(records|references|threads|thread|line|lines|lines_exact|line_bytes|first|bytes|loads|selected|tried|group_count|spanning|window|page_bytes|pages|size|ways|step_cycles|walk_cycles|remote_cycles|queue_cycles|nodes|entries|offset|element|elements|blocks|took|footprint|reused_from|first_above|at_first|start|hits|outside|lost|depth|parent|loop|stores|modifies|own_references|trips|trips_min|trips_median|trips_max|skipped|factor|versions|width|irregular|level|steps\[\]|strides\[\]\[\]|reuse\[\]|course\[\]|courseEvery|own|min|max|median|median\[\]|histogram\[\]\[\]|curve\[\]\.(lines|bytes|misses|ratio)|sizes\[\]|sizes\[\]\.(bytes|misses)|groups\[\]\.misses\[\]|footprint\[\]\.(window|lines)|working_set\.(lines|pages)\[\]|curve\.(sizes|total|selected)\[\]|bands\[\]\.misses\[\]|then\.total\[\]|carried\[\]\.(reuses|mean_distance|far))$`)
)

// walkNumbers visits every number with its path and the objects around it,
// innermost last.
func walkNumbers(v any, path string, around []map[string]any, visit func(path string, n float64, around []map[string]any)) {
	switch v := v.(type) {
	case float64:
		visit(path, v, around)
	case []any:
		for _, x := range v {
			walkNumbers(x, path+"[]", around, visit)
		}
	case map[string]any:
		for k, x := range v {
			walkNumbers(x, path+"."+k, append(slices.Clip(around), v), visit)
		}
	}
}

// at looks up a path of names below a value.
func at(v any, path string) any {
	for _, name := range strings.Split(path, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[name]
	}
	return v
}

// rangeAt is a pair of numbers.
func rangeAt(v any) (least, most float64, ok bool) {
	pair, _ := v.([]any)
	if len(pair) != 2 {
		return 0, 0, false
	}
	least, a := pair[0].(float64)
	most, b := pair[1].(float64)
	return least, most, a && b
}

// holdModelled holds that every modelled number of an answer carries its machine
// and both bands, and lies in them. It returns how many it saw.
func holdModelled(t *testing.T, what string, text string) (seen int) {
	t.Helper()
	var doc any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatalf("%s: %v: %.300s", what, err, text)
	}
	failed := map[string]bool{}
	fail := func(path, format string, args ...any) {
		if !failed[path] {
			failed[path] = true
			t.Errorf("%s: %s: "+format, append([]any{what, path}, args...)...)
		}
	}
	named := func(around []map[string]any) bool {
		for _, m := range around {
			for _, key := range []string{"machine", "base", "name"} {
				switch x := m[key].(type) {
				case string:
					if x != "" {
						return true
					}
				case map[string]any:
					if x["name"] != nil && x["name"] != "" {
						return true
					}
				}
			}
		}
		return false
	}
	walkNumbers(doc, "$", nil, func(path string, n float64, around []map[string]any) {
		ends := func(end string) bool { return path == end || strings.HasSuffix(path, "."+end) }
		for end, c := range modelledNumbers {
			list := ends(end + "[]")
			if !ends(end) && !list {
				continue
			}
			seen++
			own := around[len(around)-1]
			if !named(around) {
				fail(path, "no machine is named")
			}
			places, prefetch := at(own, c.places), at(own, c.prefetch)
			if n == 0 && list && len(asList(places)) == 0 && strings.HasPrefix(c.places, "chosen") {
				return // nothing of the row is selected
			}
			if !list {
				places, prefetch = []any{places}, []any{prefetch}
			}
			inside := false // some place of the list has this number inside its bands
			for i := range max(len(asList(places)), 1) {
				if i >= len(asList(places)) || i >= len(asList(prefetch)) {
					fail(path, "has no band %s or %s", c.places, c.prefetch)
					return
				}
				least, most, ok := rangeAt(asList(places)[i])
				ideal, none, also := rangeAt(asList(prefetch)[i])
				if !ok || !also {
					fail(path, "has no band %s or %s", c.places, c.prefetch)
					return
				}
				inside = inside || least <= n && n <= most && ideal <= n && n <= none
			}
			if !inside {
				fail(path, "%v lies outside of its bands %v and %v", n, places, prefetch)
			}
			return
		}
		for end, beside := range pairedNumbers {
			if ends(end) {
				seen++
				if v := at(around[len(around)-1], beside); v == nil || !named(around) {
					fail(path, "has no %s, or no machine", beside)
				}
				return
			}
		}
		known := exactNumbers.MatchString(path)
		for _, end := range slices.Concat(partNumbers, bandNumbers) {
			known = known || ends(end) || strings.Contains(path, "."+end)
		}
		if !known {
			fail(path, "is in no list: if it is modelled it needs its bands")
		}
	})
	return seen
}

func asList(v any) []any {
	list, _ := v.([]any)
	return list
}

// TestModelledNumbersCarryTheirBands: over traces that are drawn, every modelled
// number that a command prints or the page gets has its machine, the interval of
// where memory lies and the band of prefetchers, and lies inside.
func TestModelledNumbersCarryTheirBands(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	s, err := server.New(server.Options{Token: "x", Assets: fstest.MapFS{}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	draws := 4
	if testing.Short() {
		draws = 2
	}
	advised, shared := 0, 0
	for seed := range draws {
		r := rand.New(rand.NewPCG(uint64(seed), 24))
		trace := drawTrace(t, r)
		machine := []string{"classic", "zen3", "skylake", "a64fx", "sapphirerapids"}[r.IntN(5)]
		said := func(args ...string) string {
			t.Helper()
			text, err := isobath(t, args...)
			if err != nil {
				t.Fatalf("isobath %v: %v", args, err)
			}
			return text
		}
		hold := func(what, text string, least int) {
			t.Helper()
			if n := holdModelled(t, fmt.Sprintf("draw %d, %s on %s", seed, what, machine), text); n < least {
				t.Errorf("draw %d, %s: %d modelled numbers, want %d at least", seed, what, n, least)
			}
		}
		hold("reuse", said("reuse", trace, "--machine", machine, "--json", "--by", []string{"line", "object", "loop", "thread"}[r.IntN(4)]), 2)
		hold("whatif", said("whatif", trace, "--base", machine, "--topology", "classic", "--json", "--by", []string{"line", "object", "loop", "pc"}[r.IntN(4)]), 10)
		hold("loops", said("loops", trace, "--machine", machine, "--json"), 3)
		advice := said("advise", trace, "--machine", machine, "--json", "--least", "0.01")
		hold("advise", advice, 0)
		text := map[string]string{
			"reuse": said("reuse", trace, "--machine", machine), "whatif": said("whatif", trace, "--base", machine, "--set", "L1.size=16K,L1.ways=4"),
			"loops": said("loops", trace, "--machine", machine), "advise": said("advise", trace, "--machine", machine, "--least", "0.01"),
		}
		for verb, out := range text {
			for _, word := range []string{machine, "modelled", "prefetch"} {
				if !strings.Contains(out, word) {
					t.Errorf("draw %d: the text of %s does not say %q:\n%s", seed, verb, word, out)
				}
			}
			if !strings.Contains(out, "frame") && !strings.Contains(out, "places of memory") {
				t.Errorf("draw %d: the text of %s says nothing of where memory lies:\n%s", seed, verb, out)
			}
		}
		var found struct {
			Advice []struct{ Map string }
		}
		if err := json.Unmarshal([]byte(advice), &found); err != nil {
			t.Fatal(err)
		}
		change := ""
		if len(found.Advice) > 0 {
			change = found.Advice[0].Map
			advised++
		}
		if change != "" {
			file := filepath.Join(t.TempDir(), "map")
			if err := os.WriteFile(file, []byte(change), 0o600); err != nil {
				t.Fatal(err)
			}
			hold("whatif of a change", said("whatif", trace, "--base", machine, "--map", file, "--json", "--by", "object"), 10)
		}
		run, err := server.NewLoader(dataset.Options{}).Open(t.Context(), trace, func(frame.Progress) {})
		if err != nil {
			t.Fatal(err)
		}
		s.Add(run)
		ask := func(route string, body any) string {
			t.Helper()
			text, err := json.Marshal(body)
			if err != nil {
				t.Fatal(err)
			}
			q := httptest.NewRequest("POST", "http://127.0.0.1:7117/api/v1/runs/"+run.ID+"/"+route, strings.NewReader(string(text)))
			q.Header.Set(server.TokenHeader, "x")
			q.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			s.ServeHTTP(w, q)
			if w.Code != http.StatusOK {
				t.Fatalf("%s: %d %s", route, w.Code, w.Body)
			}
			return w.Body.String()
		}
		page := ask("locality", map[string]any{"machine": machine, "stack": "object", "loops": true, "where": "symbol = o0", "map": change})
		hold("the page", strings.Replace(page, `"loops":`, `"byLoop":`, 1), 20)
		hold("the page's machines", `{"machines":`+ask("locality/machines", map[string]any{"machines": []string{machine, "zen2"}, "map": change})+`}`, 8)
		hold("the page's loops", ask("loops", map[string]any{}), 3)
		hold("the page's advice", ask("locality/advise", map[string]any{"machine": machine}), 0)
		hold("the page's reuse", ask("locality/reuse", map[string]any{"machine": machine}), 2)
		hold("the page's what if", ask("locality/whatif", map[string]any{"base": machine, "topology": "zen2"}), 10)
		if strings.Contains(advice, `"coherence"`) {
			shared++
		}
	}
	if advised == 0 {
		t.Error("no draw had advice: draw others")
	}
	t.Logf("%d draws, %d with advice, %d with advice about threads", draws, advised, shared)
}

// TestBandsAreMissed: a number without its bands, or outside of them, fails.
func TestBandsAreMissed(t *testing.T) {
	good := `{"machine":{"name":"m"},"loops":[{"misses":[5,3],"bands":{"frames":[[5,5],[2,9]],"prefetch":[[1,5],[0,3]]}}]}`
	for name, text := range map[string]string{
		"none":         `{"machine":{"name":"m"},"loops":[{"misses":[5,3]}]}`,
		"no frames":    strings.Replace(good, `"frames"`, `"frame"`, 1),
		"no prefetch":  strings.Replace(good, `"prefetch"`, `"fetch"`, 1),
		"no machine":   strings.Replace(good, `"name":"m"`, `"name":""`, 1),
		"outside":      strings.Replace(good, `"misses":[5,3]`, `"misses":[55,3]`, 1),
		"a new number": strings.Replace(good, `"misses"`, `"stalls":4,"misses"`, 1),
	} {
		if !failsAlone(func(inner *testing.T) { holdModelled(inner, name, text) }) {
			t.Errorf("%s: passes", name)
		}
	}
	if holdModelled(t, "good", good) != 2 {
		t.Error("two numbers are modelled")
	}
}

// failsAlone reports whether a check fails a test of its own.
func failsAlone(check func(*testing.T)) bool {
	inner := &testing.T{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		check(inner)
	}()
	<-done
	return inner.Failed()
}
