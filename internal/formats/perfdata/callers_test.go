package perfdata

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/code/perfevent"
	"github.com/isobath/isobath/internal/code/unwind"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/formats/foreign"
)

// stackSample is a sample with its call chain, innermost first. Addresses in
// files are offsets, as perf script prints them.
type stackSample struct {
	time  uint64
	tid   int64
	chain []stackFrame
	// Only of ours.
	copied bool // some of the stack was
	stop   unwind.Stop
}

type stackFrame struct {
	addr uint64
	name string // of the file; perf's also of the function
}

// chainScan collects the chains of the samples of a file.
type chainScan struct {
	*importer
	t   *testing.T
	all []stackSample
}

func (v *chainScan) record(r record, rest *payload) error {
	if r.typ != perfevent.RecordSample {
		return v.importer.record(r, rest)
	}
	s := &v.sample
	if f := v.file.sample(r, s); f != faultNone {
		v.t.Fatalf("fault %d at byte %d", f, r.at)
	}
	var before [unwind.Stops]int
	if v.callers != nil {
		before = v.callers.stops
	}
	n, err := v.chain(s)
	if err != nil {
		return err
	}
	view := v.callers.history.At(int(s.PID), s.Time)
	out := stackSample{time: s.Time, tid: int64(s.TID), copied: len(s.StackUser) > 0}
	for i, n := range v.callers.stops {
		if n > before[i] {
			out.stop = unwind.Stop(i)
		}
	}
	chain := perfevent.Words{Bytes: []byte(v.stacks.in.Names()[n]), Order: v.Order}
	for i := range chain.Len() {
		a := chain.At(i)
		if a >= contextMarker {
			continue
		}
		if len(out.chain) > 0 || a != s.IP {
			// As perf prints them: the call, not what follows it; the kernel's
			// are printed as recorded.
			if a>>63 == 0 {
				a--
			}
		}
		f := stackFrame{addr: a}
		if m := view.Find(a); m != nil && a>>63 == 0 {
			f = stackFrame{a - m.Start + m.Offset, m.Path}
		}
		out.chain = append(out.chain, f)
	}
	v.all = append(v.all, out)
	return nil
}

// ourChains unwinds a file.
func ourChains(t *testing.T, path string) ([]stackSample, *callers) {
	t.Helper()
	r, size := openPath(t, path)
	f, err := open(r, size, false)
	if err != nil {
		t.Fatal(err)
	}
	v := &chainScan{importer: newImporter(context.Background(), f, &foreign.Options{}, folder{}), t: t}
	if err := f.scan(context.Background(), f.r, f.data, v); err != nil {
		t.Fatal(err)
	}
	sortChains(v.all)
	return v.all, v.callers
}

// perfChains is what perf script says.
func perfChains(t *testing.T, perf, path string) []stackSample {
	t.Helper()
	body, err := exec.Command(perf, "script", "-f", "--ns", "--no-inline", fmt.Sprintf("--max-stack=%d", maxCallers), "-F", "pid,tid,time,ip,sym,dso", "-i", path).Output()
	if err != nil {
		t.Fatalf("perf script: %v", err)
	}
	var out []stackSample
	for s := bufio.NewScanner(bytes.NewReader(body)); s.Scan(); {
		words := strings.Fields(s.Text())
		switch {
		case len(words) == 0:
		case strings.Contains(words[0], "/") && strings.HasSuffix(words[1], ":"):
			_, tid, _ := strings.Cut(words[0], "/")
			out = append(out, stackSample{tid: decimal(t, tid), time: uint64(decimal(t, strings.Replace(strings.TrimSuffix(words[1], ":"), ".", "", 1)))})
		default:
			last := &out[len(out)-1]
			last.chain = append(last.chain, stackFrame{hexWord(t, words[0]), strings.Join(words[1:], " ")})
		}
	}
	sortChains(out)
	return out
}

func sortChains(list []stackSample) {
	slices.SortStableFunc(list, func(a, b stackSample) int { return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.tid, b.tid)) })
}

func (s stackSample) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d at %d:", s.tid, s.time)
	for _, f := range s.chain {
		fmt.Fprintf(&b, "\n\t%x %s", f.addr, f.name)
	}
	return b.String()
}

// offCopy is what perf prints for the caller that its library did not find: it
// reads zero behind the copy of the stack and steps back by one.
const offCopy = ^uint64(0)

// compareChain says how two chains differ, empty if they do not. Where perf is
// known to say something else, it must say exactly that.
func compareChain(ours, perfs stackSample) string {
	a, b := ours.chain, perfs.chain
	if n := len(b); n > 0 && b[n-1].addr == offCopy {
		b = b[:n-1]
		if ours.stop != unwind.NoTables && ours.stop != unwind.ShortCopy && ours.stop != unwind.Complete { // or a return address of zero
			return "perf ran off the copy of the stack"
		}
		if len(a) == len(b)+1 {
			a = a[:len(b)] // perf does not read the last word of the copy
		}
	}
	if !ours.copied && len(a) == len(b)+1 {
		a = a[:len(b)] // perf wants a stack even to say where the program was
	}
	// In a function without tables, such as _fini, we stop. perf follows the frame
	// pointer of whoever used it last, and ends nowhere, or by luck where it should.
	if ours.stop == unwind.NoTables && len(a) <= len(b) {
		b = b[:len(a)]
	}
	// perf finds no tables of the page that the kernel maps, and ends there.
	if n := len(b); n > 0 && n < len(a) && strings.Contains(b[n-1].name, "[vdso]") {
		a = a[:n]
	}
	if len(a) != len(b) {
		return fmt.Sprintf("%d frames, perf has %d", len(a), len(b))
	}
	for i := range a {
		if a[i].addr == b[i].addr {
			continue
		}
		// The return address of a signal handler is that of a function nobody
		// called. perf steps back by one all the same, out of that function.
		if i > 0 && a[i].addr == b[i].addr+1 && strings.Contains(b[i].name, "libc") {
			continue
		}
		return fmt.Sprintf("frame %d is at %#x, perf has %#x %s", i, a[i].addr, b[i].addr, b[i].name)
	}
	return ""
}

// buildProgram compiles sources of testdata/unwind.
func buildProgram(t *testing.T, compiler, out string, args ...string) {
	t.Helper()
	cmd := exec.Command(compiler, append([]string{"-o", out}, args...)...)
	cmd.Dir = "testdata/unwind"
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", compiler, err, text)
	}
}

// recordStacks runs a program under perf.
func recordStacks(t *testing.T, perf, program string, args ...string) string {
	t.Helper()
	path := program + ".data"
	// By period: the kernel lowers the highest frequency on slow machines.
	args = append([]string{"record", "-q", "-N", "-e", "cpu-clock", "-c", "500000", "-o", path}, args...)
	if text, err := exec.Command(perf, append(args, program)...).CombinedOutput(); err != nil {
		t.Skipf("perf cannot record here: %v\n%s", err, text)
	}
	return path
}

// Every chain unwound from copies of the stack equals that of perf script.
func TestCallersEqualPerfScript(t *testing.T) {
	perf, cc, cxx := test.Peer(t, "perf", "linux-perf"), test.Peer(t, "gcc", "gcc"), test.Peer(t, "g++", "g++")
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	buildProgram(t, cc, in("liblibrary.so"), "-O2", "-fomit-frame-pointer", "-shared", "-fPIC", "library.c")
	linked := []string{"-O2", "-fomit-frame-pointer", "deep.c", "-L" + dir, "-llibrary", "-Wl,-rpath," + dir}
	dwarf := []string{"--call-graph", "dwarf"}
	for _, tt := range []struct {
		name, compiler string
		build          []string
		record         []string
		cut            bool // some stacks are longer than the copy
	}{
		{"pie", cc, append(linked, "-pie"), dwarf, true},
		{"fixed", cc, append(linked, "-no-pie"), dwarf, true},
		{"lazy", cc, append(linked, "-pie", "-Wl,-z,lazy"), dwarf, true},
		{"compressed", cc, append(linked, "-pie"), append(dwarf, "-z"), true},
		{"large", cc, append(linked, "-pie"), []string{"--call-graph", "dwarf,65528"}, false},
		{"unoptimised", cc, append(linked, "-O0", "-pie"), dwarf, true},
		{"staticpie", cc, []string{"-O2", "-fomit-frame-pointer", "-static-pie", "deep.c", "library.c"}, dwarf, true},
		{"signals", cc, []string{"-O2", "-fomit-frame-pointer", "signals.c"}, dwarf, false},
		{"exceptions", cxx, []string{"-O3", "-pthread", "exceptions.cc"}, dwarf, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			buildProgram(t, tt.compiler, in(tt.name), tt.build...)
			path := recordStacks(t, perf, in(tt.name), tt.record...)
			ours, c := ourChains(t, path)
			perfs := perfChains(t, perf, path)
			if len(ours) != len(perfs) || len(ours) < 20 {
				t.Fatalf("%d samples, perf has %d; want the same and at least 20", len(ours), len(perfs))
			}
			differ := 0
			for i := range ours {
				if why := compareChain(ours[i], perfs[i]); why != "" {
					if differ++; differ <= 3 {
						t.Errorf("%s\nours %v\nperf %v", why, ours[i], perfs[i])
					}
				}
			}
			if differ > 0 {
				t.Errorf("%d of %d chains differ", differ, len(ours))
			}
			if (c.stops[unwind.ShortCopy] > 0) != tt.cut && c.copied > 0 && tt.name != "large" {
				t.Errorf("stacks end like this: %v; beyond the copy: want %v", c.stops, tt.cut)
			}
			if k := c.stops[unwind.Complete]; 2*k < len(ours) {
				t.Errorf("%d of %d stacks reach their outermost function", k, len(ours))
			}
		})
	}
}

// stackNames counts the stacks of an import by the names of their functions.
func stackNames(t *testing.T, path string) (map[string]int, *foreign.Imported) {
	t.Helper()
	im := importFile(t, path, foreign.Options{})
	out := map[string]int{}
	c := column(t, im, "stack")
	if c.Provenance != table.Derived || !strings.Contains(c.Note, "unwound") {
		t.Errorf("column stack is %v, %q; want derived and said to be unwound", c.Provenance, c.Note)
	}
	for i := range c.Len() {
		var names []string
		for part := range strings.SplitSeq(c.Text(i), ";") {
			name, _, _ := strings.Cut(part, " (")
			names = append(names, name)
		}
		out[strings.Join(names, ";")]++
	}
	return out, im
}

// Programs that Debian's perf cannot unwind: a static one has no index of its
// tables, Go's tables are compressed. Their stacks are known from the text.
func TestCallersByConstruction(t *testing.T) {
	perf, cc := test.Peer(t, "perf", "linux-perf"), test.Peer(t, "gcc", "gcc")
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	t.Run("static", func(t *testing.T) {
		buildProgram(t, cc, in("static"), "-O2", "-fomit-frame-pointer", "-static", "-no-pie", "deep.c", "library.c")
		got, im := stackNames(t, recordStacks(t, perf, in("static"), "--call-graph", "dwarf"))
		found := false
		for stack := range got {
			if strings.Contains(stack, ";main;big;leaf;work") {
				found = found || strings.HasPrefix(stack, "_start;")
			}
		}
		if !found {
			t.Errorf("no stack _start … main, big, leaf, work among %d: %v", len(got), im.Warnings)
		}
		if all := strings.Join(im.Warnings, "\n"); !strings.Contains(all, "stacks cut off where the copy of 8192 bytes ends") {
			t.Errorf("the warnings do not tell of stacks longer than their copy:\n%s", all)
		}
	})
	t.Run("go", func(t *testing.T) {
		text, err := os.ReadFile("testdata/unwind/goroutines.go.txt")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(in("goroutines.go"), text, 0o666); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("go", "build", "-o", in("goroutines"), in("goroutines.go")).CombinedOutput(); err != nil {
			t.Fatalf("go build: %v\n%s", err, out)
		}
		got, im := stackNames(t, recordStacks(t, perf, in("goroutines"), "--call-graph", "dwarf"))
		burning, depths := 0, map[int]bool{}
		for stack, n := range got {
			if !strings.HasSuffix(stack, ";main.burn") {
				continue
			}
			burning += n
			depth := strings.Count(stack, ";main.nested")
			depths[depth] = true
			want := "runtime.goexit;main.main.func1;main.worker" + strings.Repeat(";main.nested", depth) + ";main.burn"
			if stack != want {
				t.Errorf("stack %s, want %s", stack, want)
			}
		}
		if burning < 20 || len(depths) < 2 {
			t.Errorf("%d samples of main.burn at depths %v: %v", burning, depths, im.Warnings)
		}
	})
}
