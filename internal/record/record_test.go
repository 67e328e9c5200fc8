package record

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/code/perfevent"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/record/heap"
	"github.com/isobath/isobath/internal/record/operand"
	"github.com/isobath/isobath/internal/record/pmu"
	"github.com/isobath/isobath/internal/record/sampler"
)

func TestSpaces(t *testing.T) {
	s := newSpaces(&symbol.Files{})
	code := func(start, end, offset uint64) {
		s.add(&perfevent.Mapping{PID: 1, Start: start, Len: end - start, Offset: offset, Name: "/lib"})
	}
	code(0x1000, 0x5000, 0)
	s.add(&perfevent.Mapping{PID: 1, Start: 0x2000, Len: 0x1000, Data: true}) // data over code
	s.fork(1, 2)
	code(0x4000, 0x6000, 0x9000)
	type part struct{ Start, End, Offset uint64 }
	list := func(pid int32) (out []part) {
		for _, c := range s.pids[pid] {
			out = append(out, part{c.start, c.end, c.offset})
		}
		return out
	}
	if diff := cmp.Diff([]part{{0x1000, 0x2000, 0}, {0x3000, 0x4000, 0x2000}, {0x4000, 0x6000, 0x9000}}, list(1)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]part{{0x1000, 0x2000, 0}, {0x3000, 0x5000, 0x2000}}, list(2)); diff != "" {
		t.Errorf("child: %s", diff)
	}
	s.exec(1)
	if len(s.pids[1]) != 0 || s.lookup(1, 0x1000) != nil {
		t.Error("exec keeps mappings")
	}
}

func TestLabels(t *testing.T) {
	for _, tt := range []struct {
		r    row
		want string
	}{
		{row{dist: -4}, "back 4"},
		{row{dist: -1, unverified: true}, "back 1, unverified"},
		{row{}, "direct"},
		{row{dist: 2}, "forward 2"},
		{row{found: operand.Join}, "none: join"},
	} {
		if got := tt.r.label(); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.r, got, tt.want)
		}
	}
}

// The tables of a made-up recording: who touched the page of each sample first.
func TestTables(t *testing.T) {
	c := newCollector(&symbol.Files{})
	c.Comm(0, &perfevent.Comm{PID: 5, TID: 5, Name: "app"})
	c.Comm(20, &perfevent.Comm{PID: 5, TID: 6, Name: "worker"})
	c.touches = []touch{{time: 10, addr: 0x1008, pid: 5, tid: 6, cpu: 1}, {time: 30, addr: 0x1010, pid: 5, tid: 5, cpu: 0}}
	c.rows = []row{
		{time: 5, pid: 5, tid: 5, addr: 0x1000, hasAddr: true, width: 8, dist: -2},
		{time: 15, pid: 5, tid: 6, addr: 0x1ff8, hasAddr: true, dist: 1},
		{time: 35, pid: 5, tid: 5, addr: 0x1000, hasAddr: true},
		{time: 40, pid: 9, tid: 9, addr: 0x1000, hasAddr: true},
		{time: 45, pid: 5, tid: 6, found: operand.Join},
	}
	plan := pmu.TimerPlan(&pmu.Options{})
	table, err := c.samples(context.Background(), &plan, nil, &marks{}, c.lossLog(), symbol.NewResolver(c.space, c.code.files, c.objects))
	if err != nil {
		t.Fatal(err)
	}
	column := func(name string) string {
		var out []string
		for i := range table.Rows() {
			out = append(out, table.Column(name).Text(i))
		}
		return strings.Join(out, "|")
	}
	for name, want := range map[string]string{
		"time": "0|10|30|35|40", "touch_tid": "|6|5||", "found": "back 2|forward 1|direct|direct|none: join",
		"addr": "0x1000|0x1ff8|0x1000|0x1000|", "width": "8||||", "distance": "-2|1|0|0|", "program": "app|app|app||worker",
	} {
		if got := column(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	touches, err := c.touchTable(context.Background(), nil, symbol.NewResolver(c.space, c.code.files, c.objects))
	if err != nil || touches.Rows() != 2 {
		t.Errorf("touches: %v", err)
	}
}

// A fork that the kernel had no room to tell of is in the log of allocations;
// one that both tell of counts once.
func TestLoggedForks(t *testing.T) {
	c := newCollector(&symbol.Files{})
	c.Mapping(0, &perfevent.Mapping{PID: 1, Start: 0x1000, Len: 0x1000, Name: "//anon", Data: true})
	c.objects.Allocate(1, 5, symbol.Allocation{Addr: 0x1000, Size: 0x800})
	c.Fork(&perfevent.Task{PID: 2, PPID: 1, Time: 11})
	c.logged([]heap.Copy{{Parent: 1, Child: 2, Time: 10}, {Parent: 1, Child: 3, Time: 20}, {Parent: 3, Child: 4, Time: 30}})
	if diff := cmp.Diff([]birth{{11, 2, 1}, {20, 3, 1}, {30, 4, 3}}, c.births, cmp.AllowUnexported(birth{})); diff != "" {
		t.Error(diff)
	}
	for pid := 1; pid <= 4; pid++ {
		if got := c.objects.Find(pid, pid, 40, 0x1004, 0); got == nil || got.Source != symbol.FromAllocation {
			t.Errorf("process %d: %+v", pid, got)
		}
	}
	c.Comm(50, &perfevent.Comm{PID: 4, TID: 4, Name: "new", Exec: true})
	if got := c.objects.Find(4, 4, 60, 0x1004, 0); got != nil {
		t.Errorf("a new program has %+v", got)
	}
}

// Losses as the sampler tells them become stretches of the table of gaps.
func TestLosses(t *testing.T) {
	c := newCollector(&symbol.Files{})
	c.rows = []row{{time: 100, cpu: 0}, {time: 110, cpu: 1}, {time: 200, cpu: 0}, {time: 300, cpu: 1}}
	for _, l := range []sampler.Loss{
		{Why: sampler.Full, CPU: 0, Time: 150, Records: 7}, {Why: sampler.Paused, CPU: 1, Time: 160}, {Why: sampler.Resumed, CPU: 1, Time: 260},
		{Why: sampler.AreaFull, CPU: 0, Time: 250}, {Why: sampler.Paused, CPU: 0, Time: 270},
	} {
		c.Loss(&l)
	}
	log := c.lossLog()
	table, err := log.Table(100)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range table.Rows() {
		var line []string
		for _, name := range []string{"time", "end", "kind", "cpu", "records"} {
			line = append(line, table.Column(name).Text(i))
		}
		got = append(got, strings.Join(line, " "))
	}
	if diff := cmp.Diff([]string{"0 50 lost 0 7", "60 160 throttled 1 ", "100 150 trace cut 0 ", "170 200 throttled 0 "}, got); diff != "" {
		t.Error(diff)
	}
	columns := log.Columns(len(c.rows))
	if len(columns) != 2 {
		t.Fatalf("%d columns", len(columns))
	}
	for i, want := range []string{"0 0", "0 0", "7 0", "0 1"} {
		if got := columns[0].Text(i) + " " + columns[1].Text(i); got != want {
			t.Errorf("row %d: %s, want %s", i, got, want)
		}
	}
}

// Hardware samples of the kernel, and of operations without an access, are
// counted and left out.
func TestHardwareSamples(t *testing.T) {
	c := newCollector(&symbol.Files{})
	e := &pmu.Event{Use: pmu.Access}
	c.Sample(e, &perfevent.Sample{IP: 0x400000, Addr: 0x7f00, DataSrc: 0x10668100842, Weight: 5<<32 | 60})
	c.Sample(e, &perfevent.Sample{IP: 1 << 63, Addr: 0x7f00, DataSrc: 0x10668100842})
	c.Sample(e, &perfevent.Sample{IP: 0x400000, DataSrc: 1})
	if len(c.rows) != 1 || c.kernel != 1 || c.other != 1 {
		t.Fatalf("%d rows, %d of the kernel, %d without access", len(c.rows), c.kernel, c.other)
	}
	plan := pmu.Plan{Name: "PEBS"}
	table, err := c.samples(context.Background(), &plan, nil, &marks{}, c.lossLog(), symbol.NewResolver(c.space, c.code.files, c.objects))
	if err != nil {
		t.Fatal(err)
	}
	if table.Column("latency").Text(0) != "60" || table.Column("level").Text(0) != "L3" || table.Column("op").Text(0) != "load" || table.Column("addr").Provenance.String() != "measured" {
		t.Errorf("latency %s, level %s", table.Column("latency").Text(0), table.Column("level").Text(0))
	}
}

func TestEnvironmentKeepsNoSecrets(t *testing.T) {
	got := environment([]string{"OMP_NUM_THREADS=4", "AWS_SECRET_ACCESS_KEY=x", "PATH=/bin", "SLURM_JOB_ID=7", "GITHUB_TOKEN=y", "HOME=/root", "SLURM_JWT=s", "SLURM_JOB_TOKEN=t", "OMP_PASSWORD=p", "MALLOC_SECRET=m"})
	if diff := cmp.Diff(map[string]string{"OMP_NUM_THREADS": "4", "SLURM_JOB_ID": "7"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestWarnings(t *testing.T) {
	d := &run.Recording{Samples: 1, Lost: 7, Throttled: 2, Signal: "segmentation fault", Seconds: 1.5}
	all := strings.Join(warnings(d, &sampler.Outcome{End: sampler.Killed}), "\n")
	for _, want := range []string{"segmentation fault", "7 records were lost", "paused sampling 2 times"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in %q", want, all)
		}
	}
	if got := warnings(&run.Recording{}, &sampler.Outcome{}); len(got) != 1 || !strings.Contains(got[0], "no samples") {
		t.Errorf("%q", got)
	}
}

func TestRank(t *testing.T) {
	for _, name := range rankVariables {
		t.Setenv(name, "")
	}
	if _, ok := Rank(); ok {
		t.Error("a rank without a launcher")
	}
	// Open MPI, PMIx, MPICH and Intel's, MVAPICH, srun.
	for i, name := range []string{"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID"} {
		t.Setenv(name, strconv.Itoa(i))
		if n, ok := Rank(); !ok || n != i {
			t.Errorf("%s=%d: %d, %v", name, i, n, ok)
		}
		t.Setenv(name, "none")
		if _, ok := Rank(); ok {
			t.Errorf("a rank of %s=none", name)
		}
	}
}
