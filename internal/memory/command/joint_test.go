package command

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/formats/mitos"
)

// Several sets in one command come first, and count what the selections they
// are made of have in common.
func TestJoint(t *testing.T) {
	s := searcher(t, ibs(t))
	for text, parts := range map[string][]string{
		"dram and remote":                            {dramWhere, "remote = 1"},
		"select dram and remote":                     {dramWhere, "remote = 1"},
		"select DRAM accesses and remote memory":     {dramWhere, "remote = 1"},
		"remtoe and dram":                            {"remote = 1", dramWhere},
		"dram remote":                                {dramWhere, "remote = 1"},
		"stores dram":                                {storesWhere, dramWhere},
		"remote stores mispredicted branches":        {"remote = 1", storesWhere, "ibs_op_brn_misp = 1"},
		"dram and latency > 200":                     {dramWhere, "latency > 200"},
		"dram and grid_new":                          {dramWhere, "symbol = grid_new"},
		"latency between 10 and 400 and dram":        {"latency in 10..400", dramWhere},
		"dram and remote and grid_new":               {dramWhere, "remote = 1", "symbol = grid_new"},
		"page walks and cpu 3":                       {"ibs_tlb_refill_lat > 0", "cpu = 3"},
		"misp brn and l1 tlb":                        {"ibs_op_brn_misp = 1", "ibs_dc_l1_tlb_miss = 1"},
		"matmul.cc and dram":                         {`file = "/src/matmul.cc"`, dramWhere},
		"mispredicted branches and not a real thing": nil,
	} {
		found, err := s.Search(context.Background(), text, shown)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if parts == nil {
			continue // must merely not fail
		}
		want := strings.Join(parts, " & ")
		if len(found) == 0 || found[0].Where != want {
			t.Errorf("%q: %v\nwant %s", text, texts(s, t, text), want)
			continue
		}
		e, err := query.Parse(want, s.data.Table)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := s.engine.Select(context.Background(), e)
		if err != nil {
			t.Fatal(err)
		}
		if n := found[0].Samples; n == nil || *n != rows.Count() {
			t.Errorf("%q: %v samples, want %d", text, n, rows.Count())
		}
	}
}

// A quantile among the parts is asked for like any other.
func TestJointSlow(t *testing.T) {
	s := searcher(t, ibs(t))
	for _, text := range []string{"l2 misses slow", "slow l2 misses", "slow and l2 misses"} {
		found, err := s.Search(context.Background(), text, shown)
		if err != nil || len(found) == 0 {
			t.Fatalf("%q: %v, %v", text, found, err)
		}
		if w := found[0].Where; !strings.Contains(w, "latency >= ") || !strings.Contains(w, "level in (L3") || !strings.Contains(w, " & ") {
			t.Errorf("%q: %s", text, w)
		}
		if found[0].Samples == nil || *found[0].Samples == 0 {
			t.Errorf("%q: no samples: %+v", text, found[0])
		}
	}
}

func TestJointOr(t *testing.T) {
	s := searcher(t, ibs(t))
	found, err := s.Search(context.Background(), "remote or stores", shown)
	if err != nil || len(found) == 0 || found[0].Where != "remote = 1 | "+storesWhere || found[0].Text != "select remote memory or stores" {
		t.Errorf("%+v, %v", found, err)
	}
}

// What the data cannot tell is said for the part it is about.
func TestJointMissing(t *testing.T) {
	s := searcher(t, ibs(t))
	found, err := s.Search(context.Background(), "hitm and dram", shown)
	if err != nil || len(found) == 0 || found[0].Missing == "" || found[0].Selects || !strings.Contains(found[0].Missing, "snooping") {
		t.Errorf("%+v, %v", found, err)
	}
}

// Where only memory operations were kept, a branch is one that accesses memory,
// and the suggestion says so; with all micro-ops it counts all branches.
func TestBranchesSay(t *testing.T) {
	path := ibsFile(t, 300)
	branches := withoutMemory(t, path)
	for _, all := range []bool{false, true} {
		in, err := foreign.Look(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := mitos.Format.Samples(context.Background(), in, &foreign.Options{L1Latency: 4, AllOps: all})
		if err != nil {
			t.Fatal(err)
		}
		found, err := searcher(t, got.Tables[0]).Search(context.Background(), "mispredicted branches", shown)
		if err != nil {
			t.Fatal(err)
		}
		if says := strings.Contains(found[0].Does, "--all-ops"); says == all {
			t.Errorf("all ops %v: %s", all, found[0].Does)
		}
		if *found[0].Samples != branches[all] {
			t.Errorf("all ops %v: %d mispredicted branches, want %d", all, *found[0].Samples, branches[all])
		}
	}
}

// withoutMemory turns every third micro-op of a file into one that accesses no
// memory; it returns the mispredicted branches among memory operations and
// among all.
func withoutMemory(t *testing.T, path string) map[bool]int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	names := strings.Split(lines[0], ",")
	branches := map[bool]int{}
	for i, l := range lines[1:] {
		cells := strings.Split(l, ",")
		at := func(name string) *string { return &cells[slices.Index(names, name)] }
		if i%3 == 0 {
			*at("ibs_ld_op"), *at("ibs_st_op") = "0", "0"
		}
		if *at("ibs_op_brn_misp") == "1" {
			branches[true]++
			if i%3 != 0 {
				branches[false]++
			}
		}
		lines[i+1] = strings.Join(cells, ",")
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return branches
}

func TestOrderAxes(t *testing.T) {
	s := searcher(t, ibs(t))
	for _, text := range []string{"order axes by correlation", "order axes", "sort axes", "axes correlation order", "arrange axes"} {
		found, err := s.Search(context.Background(), text, shown)
		if err != nil || len(found) == 0 || found[0].Action != Arrange {
			t.Errorf("%q: %+v, %v", text, found, err)
		}
	}
}
