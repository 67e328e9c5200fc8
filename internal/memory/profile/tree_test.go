package profile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/data/table"
)

func TestTree(t *testing.T) {
	tab, err := table.New("samples", []*table.Column{
		table.Categories("stack", table.Derived, []uint32{0, 0, 1, 2, 3}, []string{"main (a.c:1);a (a.c:2);b", "main (a.c:3);c;b", "main;a", "other"}, nil),
		table.Ints("latency", "cycles", table.Measured, []int64{1, 2, 4, 8, 0}, bitsOf(5, 4)),
	})
	if err != nil {
		t.Fatal(err)
	}
	selected := table.NewBits(5)
	selected.Set(1)
	hovered := table.NewBits(5)
	hovered.Set(2)
	tree, err := Tree(t.Context(), tab, Layers{Selected: selected, Hovered: hovered, Hovers: true}, TreeOptions{Value: Latency, Most: 100})
	if err != nil {
		t.Fatal(err)
	}
	w := func(n int64, l float64) CallWeight { return CallWeight{n, l} }
	want := []CallNode{
		{"main", 0, w(4, 15), w(0, 0), w(1, 2), w(1, 4)},
		{"a", 1, w(3, 11), w(1, 8), w(1, 2), w(0, 0)},
		{"b", 2, w(2, 3), w(2, 3), w(1, 2), w(0, 0)},
		{"c", 1, w(1, 4), w(0, 0), w(0, 0), w(1, 4)},
		{"b", 2, w(1, 4), w(1, 4), w(0, 0), w(1, 4)},
		{"other", 0, w(1, 0), w(1, 0), w(0, 0), w(0, 0)},
	}
	if diff := cmp.Diff(want, tree.Callees); diff != "" {
		t.Errorf("all calls (-want +got):\n%s", diff)
	}
	if tree.Total != w(5, 15) || tree.Selected != w(1, 2) || tree.Hovered != w(1, 4) || len(tree.Callers) != 0 || tree.Left != 0 {
		t.Errorf("totals %+v", tree)
	}
	if f := tree.Functions[0]; f.Function != "a" || f.Total != w(3, 11) || f.Self != w(1, 8) {
		t.Errorf("the heaviest function is %+v", f)
	}
	tree, err = Tree(t.Context(), tab, Layers{}, TreeOptions{Function: "b", Value: Samples, Most: 3})
	if err != nil {
		t.Fatal(err)
	}
	// c, main over it and the start of that stack weigh one each: there is no room for all of them.
	if diff := cmp.Diff([]CallNode{
		{"a", 0, w(2, 3), w(0, 0), w(2, 3), w(0, 0)},
		{"main", 1, w(2, 3), w(0, 0), w(2, 3), w(0, 0)},
		{"", 2, w(2, 3), w(0, 0), w(2, 3), w(0, 0)},
	}, tree.Callers); diff != "" || tree.Left != 3 {
		t.Errorf("callers of b, %d left out (-want +got):\n%s", tree.Left, diff)
	}
	tree, err = Tree(t.Context(), tab, Layers{}, TreeOptions{Path: []string{"main", "a"}, Value: Samples, Most: 100})
	if err != nil {
		t.Fatal(err)
	}
	if len(tree.Callees) != 3 || tree.Total.Samples != 3 || tree.Callees[0].Total.Samples != 3 {
		t.Errorf("below main and a: %+v", tree)
	}
	tree.LeaveOut(0.7)
	if len(tree.Callees) != 2 || tree.Left != 1 {
		t.Errorf("from 70 %%: %+v", tree)
	}
}

// pattern selects the stacks that go through some frames one after the other, as
// the page writes it: state/callpath.ts.
func pattern(path []string, start bool, end bool) *regexp.Regexp {
	words := make([]string, len(path))
	for i, p := range path {
		words[i] = regexp.QuoteMeta(p) + `( \([^;(]*:[0-9]+\))?`
	}
	head, tail := "(^|;)", "(;|$)"
	if start {
		head = "^"
	}
	if end {
		tail = "$"
	}
	return regexp.MustCompile(head + strings.Join(words, ";") + tail)
}

// TestTreeIsWhatSelects compares every node of the trees of random stacks, with
// recursion and odd names, with the rows that the selection of it takes.
func TestTreeIsWhatSelects(t *testing.T) {
	names := []string{"main", "f", "f (x)", "ns::g<int>(char*)", "main.(*T).M", "f+0x13", "?", "[kernel]", "a|b^$"}
	for seed := range uint64(40) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		dict := make([]string, 12)
		for i := range dict {
			var frames []string
			for range 1 + rnd.IntN(6) {
				f := names[rnd.IntN(2+rnd.IntN(len(names)-1))]
				if rnd.IntN(2) == 0 {
					f += fmt.Sprintf(" (dir/a b.c:%d)", rnd.IntN(3)+1)
				}
				frames = append(frames, f)
			}
			dict[i] = strings.Join(frames, ";")
		}
		n := 200
		codes, latency := make([]uint32, n), make([]int64, n)
		selected := table.NewBits(n)
		for i := range n {
			codes[i], latency[i] = uint32(rnd.IntN(len(dict))), rnd.Int64N(100)
			if rnd.IntN(3) == 0 {
				selected.Set(i)
			}
		}
		tab, err := table.New("samples", []*table.Column{
			table.Categories("stack", table.Derived, codes, dict, nil),
			table.Ints("latency", "cycles", table.Measured, latency, nil),
		})
		if err != nil {
			t.Fatal(err)
		}
		count := func(re *regexp.Regexp, within table.Bits) (w CallWeight) {
			through := make([]bool, len(dict))
			for k, stack := range dict {
				through[k] = re.MatchString(stack)
			}
			for i := range n {
				if through[codes[i]] && (within == nil || within.Get(i)) {
					w.add(CallWeight{1, float64(latency[i])})
				}
			}
			return w
		}
		for _, function := range []string{"", "f", "main"} {
			tree, err := Tree(t.Context(), tab, Layers{Selected: selected}, TreeOptions{Function: function, Value: Samples, Most: MostNodes})
			if err != nil {
				t.Fatal(err)
			}
			check := func(nodes []CallNode, re func(path []string, end bool) *regexp.Regexp, owns bool) {
				var path []string
				for _, node := range nodes {
					path = append(path[:node.Depth], node.Function)
					if want := count(re(path, false), nil); want != node.Total {
						t.Fatalf("seed %d, calls of %q: %q weighs %+v, selecting it %+v", seed, function, path, node.Total, want)
					}
					if want := count(re(path, false), selected); want != node.Selected {
						t.Fatalf("seed %d, calls of %q: of %q %+v is selected, not %+v", seed, function, path, node.Selected, want)
					}
					if want := count(re(path, true), nil); owns && want != node.Self {
						t.Fatalf("seed %d, calls of %q: %q itself weighs %+v, not %+v", seed, function, path, node.Self, want)
					}
				}
			}
			check(tree.Callees, func(path []string, end bool) *regexp.Regexp { return pattern(path, function == "", end) }, true)
			check(tree.Callers, func(path []string, _ bool) *regexp.Regexp {
				start := path[len(path)-1] == ""
				up := []string{function}
				for _, f := range path {
					if f != "" {
						up = append([]string{f}, up...)
					}
				}
				return pattern(up, start, false)
			}, false)
			if function == "" && tree.Total.Samples != int64(n) {
				t.Errorf("%d samples in the tree, not %d", tree.Total.Samples, n)
			}
		}
	}
}

// TestSpeedscope reads what is written as speedscope's schema describes it.
func TestSpeedscope(t *testing.T) {
	stacks, err := Stacks(t.Context(), stacked(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := WriteSpeedscope(&out, stacks, "run", "cycles"); err != nil {
		t.Fatal(err)
	}
	var file struct {
		Schema string `json:"$schema"`
		Shared struct {
			Frames []struct {
				Name, File string
				Line       int
			}
		}
		Profiles []struct {
			Type, Name, Unit     string
			StartValue, EndValue int64
			Samples              [][]int
			Weights              []int64
		}
	}
	if err := json.Unmarshal(out.Bytes(), &file); err != nil {
		t.Fatal(err)
	}
	got := map[string]int64{}
	for _, p := range file.Profiles {
		sum := int64(0)
		for i, frames := range p.Samples {
			var words []string
			for _, f := range frames {
				fr := file.Shared.Frames[f]
				words = append(words, fmt.Sprintf("%s (%s:%d)", fr.Name, fr.File, fr.Line))
			}
			got[p.Name+": "+strings.Join(words, ";")] = p.Weights[i]
			sum += p.Weights[i]
		}
		if p.Type != "sampled" || p.StartValue != 0 || p.EndValue != sum || len(p.Weights) != len(p.Samples) {
			t.Errorf("profile %+v", p)
		}
	}
	want := map[string]int64{
		"samples: main (a.c:9);solve (a.c:5);kernel (b.c:3)":         3,
		"samples: main (a.c:9);solve (a.c:6);kernel (b.c:3)":         2,
		"samples: main (a.c:12)":                                     1,
		"latency, cycles: main (a.c:9);solve (a.c:5);kernel (b.c:3)": 37,
		"latency, cycles: main (a.c:9);solve (a.c:6);kernel (b.c:3)": 305,
	}
	if diff := cmp.Diff(want, got); diff != "" || !strings.HasPrefix(file.Schema, "https://www.speedscope.app/") {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
