//go:build linux && amd64

package replay

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/machine/cachesim"
)

// geometry is the caches of one comparison.
type geometry struct{ i1, d1, ll cachesim.Geometry }

var geometries = []geometry{
	{cachesim.Geometry{Size: 32768, Ways: 8, Line: 64}, cachesim.Geometry{Size: 32768, Ways: 8, Line: 64}, cachesim.Geometry{Size: 262144, Ways: 8, Line: 64}},
	{cachesim.Geometry{Size: 16384, Ways: 4, Line: 64}, cachesim.Geometry{Size: 16384, Ways: 4, Line: 64}, cachesim.Geometry{Size: 1048576, Ways: 16, Line: 64}},
	{cachesim.Geometry{Size: 4096, Ways: 1, Line: 32}, cachesim.Geometry{Size: 4096, Ways: 1, Line: 32}, cachesim.Geometry{Size: 65536, Ways: 4, Line: 32}},
	{cachesim.Geometry{Size: 2048, Ways: 32, Line: 64}, cachesim.Geometry{Size: 2048, Ways: 32, Line: 64}, cachesim.Geometry{Size: 16384, Ways: 256, Line: 64}},
	{cachesim.Geometry{Size: 8192, Ways: 2, Line: 128}, cachesim.Geometry{Size: 8192, Ways: 8, Line: 128}, cachesim.Geometry{Size: 131072, Ways: 8, Line: 128}},
	{cachesim.Geometry{Size: 32768, Ways: 8, Line: 64}, cachesim.Geometry{Size: 49152, Ways: 12, Line: 64}, cachesim.Geometry{Size: 2097152, Ways: 16, Line: 64}},
}

func (g geometry) flags() []string {
	text := func(c cachesim.Geometry) string { return fmt.Sprintf("%d,%d,%d", c.Size, c.Ways, c.Line) }
	return []string{"--I1=" + text(g.i1), "--D1=" + text(g.d1), "--LL=" + text(g.ll)}
}

// grindPrograms are run small: valgrind writes half a million references a
// second as text.
var grindPrograms = []string{"aos_soa_a", "aos_soa_b", "hot_cold_a", "hot_cold_b", "reorder_a", "reorder_b", "pad_set_a", "pad_set_b",
	"hash_a", "hash_b", "align_a", "list_a", "list_b", "narrow_a", "quiet_random", "quiet_small"}

// TestCachegrind compares misses in total and by source line with cachegrind, run
// on the same programs: those of caches by its rules, and those that whatif counts
// in a first level of the same shape. Each program is run with all geometries under make locality, and with
// two of them otherwise, so that every one has its programs.
func TestCachegrind(t *testing.T) {
	if testing.Short() {
		t.Skip("runs valgrind fifty times")
	}
	valgrind := test.Peer(t, "valgrind", "valgrind")
	dir := test.Shared(t, "locality/programs")
	for k, name := range grindPrograms {
		geometries := geometries
		if os.Getenv("ISOBATH_ALL_GEOMETRIES") == "" {
			geometries = []geometry{geometries[k%len(geometries)], geometries[(k+k/len(geometries)+1)%len(geometries)]}
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compareCachegrind(t, valgrind, buildStatic(t, filepath.Join(dir, name+".c"), "-O1"), geometries)
		})
	}
}

// buildStatic compiles a program so that it makes the same references under every
// tool.
func buildStatic(t *testing.T, source, level string) (exe string) {
	t.Helper()
	exe = filepath.Join(t.TempDir(), strings.TrimSuffix(filepath.Base(source), ".c"))
	if out, err := exec.Command(test.Peer(t, "gcc", "gcc"), level, "-g", "-static", "-no-pie", "-o", exe, source, "-lpthread").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return exe
}

// compareCachegrind runs a program once for our models of some geometries, and once
// for each under cachegrind.
func compareCachegrind(t *testing.T, valgrind, exe string, geometries []geometry) {
	t.Helper()
	models := make([]*grindModel, len(geometries))
	for i, g := range geometries {
		models[i] = newGrindModel(t, g)
	}
	lackeyTrace(t, valgrind, exe, func(kind byte, addr uint64, size uint32) {
		for _, m := range models {
			m.add(kind, addr, size)
		}
	})
	for i, g := range geometries {
		want := runCachegrind(t, valgrind, exe, g)
		compareGrind(t, fmt.Sprint(g), models[i].byLine(t, exe), want)
		models[i].compareSurvey(t, fmt.Sprint(g), exe, want)
	}
}

// command runs valgrind with an empty environment, as the program's stack depends
// on it.
func command(valgrind, exe string, flags ...string) *exec.Cmd {
	cmd := exec.Command(valgrind, append(flags, exe, "2000")...)
	cmd.Env = []string{}
	return cmd
}

func lackeyTrace(t *testing.T, valgrind, exe string, visit func(kind byte, addr uint64, size uint32)) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := command(valgrind, exe, "--tool=lackey", "--trace-mem=yes", "--log-fd=3")
	cmd.ExtraFiles = []*os.File{w}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	scan := bufio.NewScanner(r)
	for scan.Scan() {
		line := scan.Bytes()
		if len(line) < 5 || bytes.HasPrefix(line, []byte("==")) {
			continue
		}
		kind := line[0]
		if kind == ' ' {
			kind = line[1]
		}
		addr, size, ok := strings.Cut(strings.TrimSpace(string(line[2:])), ",")
		a, err1 := strconv.ParseUint(addr, 16, 64)
		n, err2 := strconv.ParseUint(size, 10, 32)
		if ok && err1 == nil && err2 == nil {
			visit(kind, a, uint32(n))
		}
	}
	io.Copy(io.Discard, r)
	r.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}

// grindModel counts by instruction.
type grindModel struct {
	*Cachegrind
	counts map[uint64]*GrindCounts
	now    *GrindCounts
	pc     uint64
	// survey is what whatif has: missing are its references that miss, by
	// instruction.
	survey  *Survey
	missing map[uint64]uint64
}

func newGrindModel(t *testing.T, g geometry) *grindModel {
	c, err := NewCachegrind(g.i1, g.d1, g.ll)
	if err != nil {
		t.Fatal(err)
	}
	return &grindModel{Cachegrind: c, counts: map[uint64]*GrindCounts{}, now: &GrindCounts{}, survey: NewSurvey(Alone(g.d1), Policy{Kind: FirstTouch}, nil), missing: map[uint64]uint64{}}
}

func (m *grindModel) add(kind byte, addr uint64, size uint32) {
	if kind != 'I' {
		m.Access(addr, size, kind == 'S', m.now)
		before := m.survey.All.Misses[0]
		m.survey.Access(&Access{Addr: addr, Size: uint16(min(size, m.least))}, 0)
		if m.survey.All.Misses[0] > before {
			m.missing[m.pc]++
		}
		return
	}
	m.now, m.pc = m.counts[addr], addr
	if m.now == nil {
		m.now = &GrindCounts{}
		m.counts[addr] = m.now
	}
	m.Fetch(addr, size, m.now)
}

func (n *GrindCounts) plus(o GrindCounts) {
	for i, p := range n.fields() {
		*p += *o.fields()[i]
	}
}

func (n *GrindCounts) fields() []*uint64 {
	return []*uint64{&n.Ir, &n.I1mr, &n.ILmr, &n.Dr, &n.D1mr, &n.DLmr, &n.Dw, &n.D1mw, &n.DLmw}
}

// byLine sums counts by file and line; "" is everything.
func (m *grindModel) byLine(t *testing.T, exe string) map[string]GrindCounts {
	t.Helper()
	p, err := symbol.OpenProgram(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	out := map[string]*GrindCounts{"": {}}
	for pc, n := range m.counts {
		out[""].plus(*n)
		file, line, _ := p.Line(pc)
		if line == 0 {
			continue
		}
		key := fmt.Sprintf("%s:%d", file, line)
		if out[key] == nil {
			out[key] = &GrindCounts{}
		}
		out[key].plus(*n)
	}
	plain := map[string]GrindCounts{}
	for k, n := range out {
		plain[k] = *n
	}
	return plain
}

// compareSurvey holds that the references that miss in the survey are cachegrind's
// misses of the first level, all of them and by line.
func (m *grindModel) compareSurvey(t *testing.T, what, exe string, want map[string]GrindCounts) {
	t.Helper()
	m.survey.Finish()
	if all := want[""]; m.survey.Levels[0].MissingReferences != all.D1mr+all.D1mw || all.D1mr == 0 {
		t.Errorf("%s: %d references miss, cachegrind has %d reads and %d writes", what, m.survey.Levels[0].MissingReferences, all.D1mr, all.D1mw)
	}
	p, err := symbol.OpenProgram(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	got := map[string]uint64{}
	for pc, n := range m.missing {
		file, line, _ := p.Line(pc)
		got[fmt.Sprintf("%s:%d", file, line)] += n
	}
	for key, n := range want {
		if key == "" || strings.HasPrefix(key, "???") || strings.HasSuffix(key, ":0") {
			continue
		}
		if got[key] != n.D1mr+n.D1mw {
			t.Errorf("%s, %s: %d references miss, cachegrind has %d", what, key, got[key], n.D1mr+n.D1mw)
		}
	}
}

func runCachegrind(t *testing.T, valgrind, exe string, g geometry) map[string]GrindCounts {
	t.Helper()
	file := exe + ".out"
	flags := append([]string{"--tool=cachegrind", "--cache-sim=yes", "--cachegrind-out-file=" + file, "--log-file=/dev/null"}, g.flags()...)
	if err := command(valgrind, exe, flags...).Run(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return parseCachegrind(t, string(text))
}

func parseCachegrind(t *testing.T, text string) map[string]GrindCounts {
	t.Helper()
	out := map[string]GrindCounts{}
	file := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "fl="); ok {
			file = filepath.Base(name)
			continue
		}
		words := strings.Fields(line)
		key := ""
		if len(words) == 10 && words[0] == "summary:" {
			words[0] = "0"
		} else if len(words) < 2 || line[0] < '1' || line[0] > '9' {
			continue
		} else {
			key = file + ":" + words[0]
		}
		var n GrindCounts
		for i, p := range n.fields() {
			if i+1 < len(words) {
				v, err := strconv.ParseUint(words[i+1], 10, 64)
				if err != nil {
					t.Fatalf("%q: %v", line, err)
				}
				*p = v
			}
		}
		old := out[key]
		old.plus(n)
		out[key] = old
	}
	return out
}

func compareGrind(t *testing.T, what string, got, want map[string]GrindCounts) {
	t.Helper()
	lines, wrong := 0, 0
	for key, n := range want {
		if strings.HasPrefix(key, "???") || strings.HasSuffix(key, ":0") {
			continue
		}
		if lines++; got[key] != n {
			if wrong++; wrong <= 3 {
				t.Errorf("%s, %s: %+v, cachegrind %+v", what, key, got[key], n)
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%s: %d of %d lines differ", what, wrong, lines)
	}
	if lines < 10 {
		t.Errorf("%s: cachegrind has %d lines", what, lines)
	}
}
