package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/table"
)

// The case studies of the MemAxes papers, with the real programs, recorded here.

// buildShared compiles all sources of a program that lies beside the checkout.
func (r *recorder) buildShared(name, compiler, pattern string, flags ...string) string {
	r.t.Helper()
	sources, err := filepath.Glob(filepath.Join(test.SharedProgram(r.t, name), pattern))
	if err != nil || len(sources) == 0 {
		r.t.Fatalf("no sources: %v", err)
	}
	out := filepath.Join(r.dir, name)
	args := append(append([]string{"-O2", "-g", "-w", "-fopenmp", "-o", out}, sources...), flags...)
	if text, err := exec.Command(test.Peer(r.t, compiler, compiler), args...).CombinedOutput(); err != nil {
		r.t.Fatalf("%v\n%s", err, text)
	}
	return out
}

// TestCaseStudyXSBench: the program first makes its grids, then looks up; nearly all
// that the lookups cost is in two arrays, which have the names of the sources.
func TestCaseStudyXSBench(t *testing.T) {
	r := newRecorder(t)
	program := r.buildShared("xsbench", "gcc", "*.c", "-std=gnu99", "-lm")
	// It ends with 1 where it has no sum to compare its result with, as for this size.
	_, samples := r.record("--rate", "4000", "--", "sh", "-c", `"$@"; test $? -le 1`, "sh", program, "-s", "small", "-g", "2000", "-l", "34", "-p", "15000", "-t", "2")
	const making, looking = "grid_init_do_not_profile", "run_history_based_simulation"
	time, stack, symbol := samples.Column("time"), samples.Column("stack"), samples.Column("symbol")
	lastMade, firstLooked, counted, objects := math.Inf(-1), math.Inf(1), map[string]int{}, map[string]int{}
	for i := range samples.Rows() {
		switch text := stack.Text(i); {
		case strings.Contains(text, making):
			counted[making]++
			lastMade = max(lastMade, time.Float(i))
		case strings.Contains(text, looking):
			counted[looking]++
			firstLooked = min(firstLooked, time.Float(i))
			objects[symbol.Text(i)]++
		}
	}
	t.Logf("%d samples: %v; lookups in %v", samples.Rows(), counted, objects)
	if counted[making] < 50 || counted[looking] < 500 || lastMade >= firstLooked || counted[making]+counted[looking] < samples.Rows()*9/10 {
		t.Errorf("phases %v of %d samples; the first ends at %.0f, the second begins at %.0f", counted, samples.Rows(), lastMade, firstLooked)
	}
	first := ranked(objects)
	// The third, by which each lookup begins, costs about as much as the second.
	if hot := first[:min(3, len(first))]; first[0] != "SD.nuclide_grid" || !slices.Contains(hot, "SD.index_grid") || objects["SD.nuclide_grid"]+objects["SD.index_grid"] < counted[looking]/2 {
		t.Errorf("the hot arrays are %v: %v", hot, objects)
	}
}

// ranked are names by their counts, the largest first.
func ranked(counts map[string]int) []string {
	var names []string
	for name := range counts {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return counts[b] - counts[a] })
	return names
}

// TestCaseStudyLULESH: objects are called what the sources call them, members of
// Domain among them, and what the threads lose at its barriers is said, with the
// functions that wait; one thread waits for nobody.
func TestCaseStudyLULESH(t *testing.T) {
	r := newRecorder(t)
	program := r.buildShared("lulesh", "g++", "*.cc", "-DUSE_MPI=0")
	t.Setenv("OMP_WAIT_POLICY", "active") // without it threads sleep after a while
	_, alone := r.record("--rate", "4000", "--", "env", "OMP_NUM_THREADS=1", program, "-s", "25", "-i", "80")
	if n := waitingSamples(alone); n > alone.Rows()/200 {
		t.Errorf("%d of %d samples of one thread wait", n, alone.Rows())
	}
	members, nameless := map[string]int{}, 0
	for name, n := range counts(alone, "symbol") {
		if member, ok := strings.CutPrefix(name, "Domain.m_"); ok {
			member, _, _ = strings.Cut(member, " ")
			members[member] += n
		}
		if strings.HasPrefix(name, "allocation ") {
			nameless += n
		}
	}
	t.Logf("%d samples, members of Domain %v, without a name %d", alone.Rows(), members, nameless)
	// Positions and velocities of nodes are what the papers show.
	for _, group := range [][]string{{"x", "y", "z"}, {"xd", "yd", "zd"}, {"e", "p", "q", "v", "volo", "delv"}} {
		if !slices.ContainsFunc(group, func(m string) bool { return members[m] > 0 }) {
			t.Errorf("no sample in any of %v", group)
		}
	}
	if nameless > alone.Rows()/50 || len(members) < 8 {
		t.Errorf("%d members, %d of %d samples in objects without a name", len(members), nameless, alone.Rows())
	}
	_, team := r.record("--rate", "4000", "--", program, "-s", "20", "-i", "10") // with two threads
	r.checkWaiting(team)
}

func waitingSamples(samples *table.Table) (n int) {
	waiting := samples.Column("waiting")
	for i := range samples.Rows() {
		if waiting != nil && waiting.Has(i) && waiting.Text(i) == "OpenMP" {
			n++
		}
	}
	return n
}

// checkWaiting compares what is said about waiting with a count.
func (r *recorder) checkWaiting(samples *table.Table) {
	r.t.Helper()
	out, err := r.command("insights", "out.isobath", "--json").Output()
	var said struct {
		Insights []struct {
			Kind, Text, Where string
			Stake             float64
		}
	}
	if err != nil || json.Unmarshal(out, &said) != nil {
		r.t.Fatalf("%v\n%s", err, out)
	}
	share, found := float64(waitingSamples(samples))/float64(samples.Rows()), false
	for _, f := range said.Insights {
		if f.Kind != "waiting" {
			continue
		}
		found = true
		r.t.Log(f.Text)
		if math.Abs(f.Stake-share) > 1e-9 || !strings.Contains(f.Text, fmt.Sprintf("%.1f %%", 100*share)) || !strings.Contains(f.Text, "waits most in ") {
			r.t.Errorf("%.4f of the samples wait: %+v", share, f)
		}
	}
	if !found || share < 0.01 {
		r.t.Errorf("%.4f of the samples wait, and the findings are %s", share, out)
	}
	// Counted by something else: the library's code does little but wait here. Starting
	// teams and counting who has arrived at a barrier is work, and on an idle machine,
	// where nobody waits long, some 5 % of its samples.
	inside := 0
	for name, n := range counts(samples, "module") {
		if strings.HasPrefix(name, "libgomp") {
			inside += n
		}
	}
	if by := float64(inside) / float64(samples.Rows()); share > by+0.02 || share < 0.85*by {
		r.t.Errorf("%.4f of the samples wait, %.4f are in the library of OpenMP", share, by)
	}
	// The functions that wait are the program's, and none is the library's.
	for name, n := range counts(samples, "waiting_in") {
		if strings.Contains(name, "gomp") && n > 0 {
			r.t.Errorf("%s waits", name)
		}
	}
}
