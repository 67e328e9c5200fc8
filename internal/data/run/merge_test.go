package run

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/data/table"
)

// ranked is a recording of a few samples.
func ranked(t *testing.T, host string, tree string, rank int, offset int64, times ...uint64) *Run {
	t.Helper()
	samples, err := table.New("samples", []*table.Column{table.Times("time", "ns", table.Measured, times, nil), table.Ints("cpu", "", table.Measured, make([]int64, len(times)), nil)})
	if err != nil {
		t.Fatal(err)
	}
	return &Run{Path: host, Contents: []*table.Table{samples}, Tree: json.RawMessage(tree), Manifest: Manifest{Kind: kind.Samples, Origin: kind.Origin{Host: host}, Warnings: []string{"w"},
		Recording: &Recording{Rank: &rank, ClockOffset: offset, Samples: len(times), Addresses: map[string]int{"direct": len(times)}}}}
}

func TestMerge(t *testing.T) {
	a := ranked(t, "one", `{"cpus":2,"blocked":"1"}`, 3, 1000, 5, 6)
	b := ranked(t, "one", `{"blocked":"0","cpus":2}`, 0, 1000, 4)
	a.Names = "allocation at heat.c:57 is u double[8]\nallocation at heat.c:58 is v double[8]\n"
	b.Names = "allocation at heat.c:57 is u double[8]\nallocation at heat.c:58 is w double[8]"
	got, err := Merge([]*Run{a, b}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := a.Names + "allocation at heat.c:58 is w double[8]\n"; got.Names != want {
		t.Errorf("names %q, want %q", got.Names, want)
	}
	samples := got.Table("samples")
	if samples.Rows() != 3 || samples.Column("rank").Text(0) != "3" || samples.Column("rank").Text(2) != "0" || samples.Column("host") != nil || samples.Column("time").Text(0) != "1" {
		t.Errorf("rank %s, time %s", samples.Column("rank").Text(0), samples.Column("time").Text(0))
	}
	if all := strings.Join(got.Warnings, "|"); all != "ranks 0, 3: w" {
		t.Errorf("warnings %q", all)
	}
	if d := got.Recording; d.Samples != 3 || d.Addresses["direct"] != 3 || d.Rank != nil {
		t.Errorf("%+v", d)
	}
	// Another host has another clock, and may be another machine.
	c := ranked(t, "two", `{"cpus":4}`, 1, 500, 506)
	c.Warnings = nil
	if got, err = Merge([]*Run{a, c}, nil); err != nil {
		t.Fatal(err)
	}
	samples = got.Table("samples")
	if samples.Column("host").Text(2) != "two" || samples.Column("time").Text(2) != "1" || strings.Contains(strings.Join(got.Warnings, "|"), "machine") {
		t.Errorf("host %s, time %s, warnings %v", samples.Column("host").Text(2), samples.Column("time").Text(2), got.Warnings)
	}
	if want := `{"version":2,"hosts":[{"name":"one","machine":0},{"name":"two","machine":1}],"machines":[{"cpus":2},{"cpus":4}]}`; string(got.Tree) != want {
		t.Errorf("topology %s, want %s", got.Tree, want)
	}
	if err := got.Write(t.Context(), filepath.Join(t.TempDir(), "all.isobath"), false); err != nil {
		t.Error(err)
	}
	c.Kind = kind.Trace
	if _, err := Merge([]*Run{a, c}, nil); err == nil {
		t.Error("a trace was merged with samples")
	}
}

// Clocks of hosts are brought together if all say the time of day, and it is said
// whether; a run of several hosts keeps its times when others join it.
func TestMergeClocks(t *testing.T) {
	times := func(r *Run) string {
		c := r.Table("samples").Column("time")
		var all []string
		for i := range c.Len() {
			all = append(all, fmt.Sprint(c.Base+uint64(c.Float(i))))
		}
		return strings.Join(all, " ")
	}
	one, two, three := func() *Run { return ranked(t, "one", "{}", 0, 1000, 5, 6) }, func() *Run { return ranked(t, "two", "{}", 1, 500, 506) }, func() *Run { return ranked(t, "three", "{}", 2, 2000, 1) }
	merge := func(runs ...*Run) *Run {
		t.Helper()
		r, err := Merge(runs, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	clocks := func(r *Run) string {
		return strings.Join(slices.DeleteFunc(slices.Clone(r.Warnings), func(w string) bool { return !strings.Contains(w, "clock") }), "|")
	}
	for name, r := range map[string]*Run{"at once": merge(one(), two(), three()), "one after the other": merge(merge(one(), two()), three())} {
		if got := times(r); got != "1005 1006 1006 2001" {
			t.Errorf("%s: times %s", name, got)
		}
		if got := clocks(r); got != "the clocks of the 3 hosts are brought together by their times of day; how far those differ is not known" {
			t.Errorf("%s: said %q", name, got)
		}
	}
	unknown := two()
	unknown.Recording.ClockOffset = 0
	r := merge(one(), unknown, three())
	if got := times(r); got != "5 6 506 1" {
		t.Errorf("without the clock of one: times %s", got)
	}
	if got := clocks(r); got != "the clocks of the 3 hosts are not brought together, because rank 1 says no time of day: times of different hosts do not compare" {
		t.Errorf("without the clock of one: said %q", got)
	}
	same := ranked(t, "one", "{}", 1, 1000, 7)
	if r := merge(one(), same); times(r) != "5 6 7" || clocks(r) != "" || r.Recording.ClockOffset != 1000 {
		t.Errorf("of one host: times %s, said %q", times(r), clocks(r))
	}
}

// A run that was merged before has its ranks already; the others get theirs.
func TestMergeAgain(t *testing.T) {
	before, err := Merge([]*Run{ranked(t, "one", "{}", 4, 0, 1), ranked(t, "one", "{}", 7, 0, 2, 3)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Merge([]*Run{ranked(t, "one", "{}", 2, 0, 5), before, ranked(t, "two", "{}", 9, 0, 6)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var ranks, hosts []string
	samples := got.Table("samples")
	for i := range samples.Rows() {
		ranks, hosts = append(ranks, samples.Column("rank").Text(i)), append(hosts, samples.Column("host").Text(i))
	}
	if r, h := strings.Join(ranks, " "), strings.Join(hosts, " "); r != "2 4 7 7 9" || h != "one one one one two" {
		t.Errorf("ranks %s, hosts %s", r, h)
	}
}

// The memory of a virtual machine grows and shrinks between the starts of two
// ranks; its caches do not.
func TestMergeComparesHardware(t *testing.T) {
	const one = `{"version":1,"objects":[{"type":"Machine","cpus":"0-1","size":24},{"type":"NUMA","os":0,"cpus":"0-1","size":24},{"type":"L3","cpus":"0-1","size":32}]}`
	tests := []struct {
		name, other string
		differ      bool
	}{
		{"the same", one, false},
		{"less memory", strings.ReplaceAll(one, `"size":24`, `"size":19`), false},
		{"a note", strings.Replace(one, `"version":1`, `"version":1,"warnings":["CPU 1 went away"]`, 1), false},
		{"another cache", strings.Replace(one, `"size":32`, `"size":16`, 1), true},
		{"another CPU", strings.ReplaceAll(one, "0-1", "0-3"), true},
		{"no topology", ``, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Merge([]*Run{ranked(t, "vm", one, 0, 0, 1), ranked(t, "vm", tt.other, 1, 0, 2)}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if differ := strings.Contains(strings.Join(got.Warnings, "|"), "another kind of machine"); differ != tt.differ {
				t.Errorf("differ: %v, want %v (%q)", differ, tt.differ, got.Warnings)
			}
			if !strings.Contains(string(got.Tree), `"size":24`) {
				t.Errorf("the merged run lost the size of the memory: %s", got.Tree)
			}
		})
	}
}

// Hosts of one kind share a description, a merged run brings all of its hosts, and
// one without a topology is named.
func TestMergeMachines(t *testing.T) {
	const plain, wide = `{"version":1,"name":"%","objects":[{"type":"CPU","os":0,"cpus":"0"}]}`, `{"version":1,"objects":[{"type":"CPU","os":0,"cpus":"0"},{"type":"CPU","os":1,"cpus":"1"}]}`
	of := func(host, tree string, rank int) *Run {
		return ranked(t, host, strings.Replace(tree, "%", host, 1), rank, 0, 1)
	}
	before, err := Merge([]*Run{of("b", plain, 1), of("c", wide, 2)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	bare := of("e", plain, 5)
	bare.Tree = nil
	got, err := Merge([]*Run{of("a", plain, 0), before, of("d", plain, 4), of("d", wide, 6), bare}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var tree cluster
	if err := json.Unmarshal(got.Tree, &tree); err != nil {
		t.Fatal(err)
	}
	want := []clusterHost{{"a", 0}, {"b", 0}, {"c", 1}, {"d", 0}}
	if len(tree.Machines) != 2 || !slices.Equal(tree.Hosts, want) {
		t.Errorf("%d machines, hosts %v; want 2, %v", len(tree.Machines), tree.Hosts, want)
	}
	all := strings.Join(got.Warnings, "|")
	for _, said := range []string{"rank 6: ran on another kind of machine than other ranks of the same host (d)", "rank 5: ran on a host whose topology is not known"} {
		if !strings.Contains(all, said) {
			t.Errorf("nothing says %q: %s", said, all)
		}
	}
}

func TestRanksText(t *testing.T) {
	for want, ranks := range map[string][]int{"rank 4": {4}, "ranks 0-3": {2, 0, 1, 3}, "ranks 0, 2-3, 9": {9, 3, 0, 2}} {
		if got := ranksText(ranks); got != want {
			t.Errorf("%v: %q, want %q", ranks, got, want)
		}
	}
}
