package record

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/gaps"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/record/pmu"
)

// processes builds testdata/processes.c and says at which line each of its two
// kinds of memory is allocated.
func processes(t *testing.T) (program string, site map[string]string) {
	t.Helper()
	const source = "testdata/processes.c"
	program = filepath.Join(t.TempDir(), "processes")
	gcc := test.Peer(t, "gcc", "gcc")
	if out, err := exec.Command(gcc, "-O1", "-g", "-pthread", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	site = map[string]string{}
	for i, line := range strings.Split(string(text), "\n") {
		for mark, function := range map[string]string{"/* OWN */": "sweep_own", "/* TAKEN */": "sweep_taken"} {
			if strings.Contains(line, mark) {
				site[function] = fmt.Sprintf("processes.c:%d", i+1)
			}
		}
	}
	return program, site
}

// recorded records a program, or skips the test where sampling is forbidden.
func recorded(t *testing.T, opt *Options) *run.Run {
	t.Helper()
	opt.Mode, opt.Heap, opt.Say = Timer, true, func(string) {}
	if err := exec.Command(opt.Command[0], opt.Command[1:]...).Run(); err != nil {
		t.Fatalf("%v by itself: %v", opt.Command[1:], err)
	}
	got, err := Record(context.Background(), opt)
	if err != nil {
		t.Skipf("this machine does not let us sample: %v", err)
	}
	if got.Outcome.Status != 0 {
		t.Fatalf("status %d", got.Outcome.Status)
	}
	return got.Run
}

// Memory has the name of where it was allocated in every process that has it.
func TestProcesses(t *testing.T) {
	program, site := processes(t)
	for _, tt := range []struct {
		mode       string
		taken, own int // processes that work on it
	}{
		{"fork", 2, 0}, {"allocate", 2, 1}, {"free", 1, 1}, {"parent frees", 1, 1}, {"grandchild", 3, 2}, {"exec", 1, 1}, {"vfork", 1, 1}, {"spawn", 1, 1},
		{"threads", 1, 1}, {"fork with threads", 2, 2}, {"cleared", 1, 1},
	} {
		t.Run(tt.mode, func(t *testing.T) {
			r := recorded(t, &Options{Command: []string{program, tt.mode}, Sampling: pmu.Options{Rate: 4000}})
			checkNames(t, r, site, map[string]int{"sweep_taken": tt.taken, "sweep_own": tt.own})
		})
	}
}

// What is mapped and forked on a CPU where nothing is sampled is known on the
// others.
func TestProcessesOfOtherCPUs(t *testing.T) {
	program, site := processes(t)
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		t.Fatal(err)
	}
	var cpus []int
	for i := range 1024 {
		if set.IsSet(i) {
			cpus = append(cpus, i)
		}
	}
	if len(cpus) < 2 {
		t.Skip("there is one CPU only")
	}
	r := recorded(t, &Options{Command: []string{program, "elsewhere", strconv.Itoa(cpus[1]), strconv.Itoa(cpus[0])}, CPUs: cpus[:1], Sampling: pmu.Options{Rate: 4000}})
	checkNames(t, r, site, map[string]int{"sweep_taken": 1, "sweep_own": 1})
}

// checkNames compares the name of each access with the function that made it.
func checkNames(t *testing.T, r *run.Run, site map[string]string, processes map[string]int) {
	t.Helper()
	samples := r.Table("samples")
	column := func(name string, row int) string {
		if c := samples.Column(name); c != nil && c.Has(row) {
			return c.Text(row)
		}
		return ""
	}
	pids := map[string]map[string]int{"sweep_taken": {}, "sweep_own": {}}
	wrong := map[string]int{}
	for i := range samples.Rows() {
		function := column("function", i)
		if pids[function] == nil || column("addr", i) == "" {
			continue
		}
		pids[function][column("pid", i)]++
		if got := column("allocation", i); got != site[function] {
			wrong[fmt.Sprintf("%s in process %s: %q, want %s", function, column("pid", i), column("symbol", i), site[function])]++
		}
	}
	for text, n := range wrong {
		t.Errorf("%s (%d samples)", text, n)
	}
	for function, want := range processes {
		if len(pids[function]) != want {
			t.Errorf("%s in the processes %v, want %d", function, pids[function], want)
		}
	}
}

// Rings that are too small lose records: when is in the run, and what is left
// keeps its names, even if the record of a fork is among them.
func TestLossesHaveTimes(t *testing.T) {
	program, site := processes(t)
	r := recorded(t, &Options{Command: []string{program, "grandchild"}, Sampling: pmu.Options{Rate: 20000}, Ring: os.Getpagesize()})
	samples, lost := r.Table("samples"), r.Table("gaps")
	if r.Recording.Lost == 0 || lost == nil {
		t.Fatalf("%d records lost, table %v", r.Recording.Lost, lost)
	}
	checkNames(t, r, site, nil)
	var sum, said float64
	for i := range lost.Rows() {
		begin, end := lost.Column("time").Float(i), lost.Column("end").Float(i)
		if lost.Column("kind").Text(i) != "lost" {
			continue // a slow machine may throttle as well
		}
		sum += lost.Column("records").Float(i)
		if begin > end {
			t.Errorf("gap %d from %.0f to %.0f", i, begin, end)
		}
		for k := range samples.Rows() {
			at := samples.Column("time").Float(k)
			if at > begin && at < end && samples.Column("cpu").Text(k) == lost.Column("cpu").Text(i) {
				t.Errorf("a sample at %.0f lies in gap %d, from %.0f to %.0f", at, i, begin, end)
			}
		}
	}
	column := samples.Column("lost")
	if column == nil {
		t.Fatal("no sample says that records were lost before it")
	}
	for k := range samples.Rows() {
		said += column.Float(k)
	}
	if sum != float64(r.Recording.Lost) || said > sum || said == 0 {
		t.Errorf("gaps hold %.0f records and samples %.0f; %d were lost", sum, said, r.Recording.Lost)
	}
	found, err := gaps.Find(t.Context(), samples, lost)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(found, func(g gaps.Gap) bool { return g.Kind == "lost" && g.Records > 0 && g.To > 0 }) {
		t.Errorf("the time axis shows %+v", found)
	}
}

// A storm of page faults costs nothing but page faults: they have their own
// rings. What else there is to record of the program fits a ring, however slow
// the machine is.
func TestFaultsLoseNoSamples(t *testing.T) {
	program, _ := processes(t)
	r := recorded(t, &Options{Command: []string{program, "touch"}, Sampling: pmu.Options{Rate: 10}, Ring: 16 << 10})
	if r.Recording.Lost != 0 || r.Table("gaps") != nil {
		t.Errorf("%d page faults and %d other records lost, gaps %v", r.Recording.LostTouches, r.Recording.Lost, r.Table("gaps"))
	}
	// How many are lost depends on how soon we are woken.
	text := strings.Join(r.Warnings, "\n")
	if said := strings.Contains(text, "page faults were not recorded"); said != (r.Recording.LostTouches > 0) {
		t.Errorf("%d page faults lost, warnings %q", r.Recording.LostTouches, text)
	}
	t.Logf("%d page faults recorded, %d lost", r.Recording.Touches, r.Recording.LostTouches)
}
