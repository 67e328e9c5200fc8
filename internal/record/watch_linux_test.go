package record

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/record/pmu"
)

func TestThin(t *testing.T) {
	timer, hardware := &pmu.Plan{Name: "timer"}, &pmu.Plan{Name: "PEBS"}
	for _, tt := range []struct {
		name             string
		rows, touches    int
		most             int
		plan             *pmu.Plan
		want             []uint64 // times that are left
		weight           uint64
		wantTouches, say int
	}{
		{"all", 10, 100, 0, timer, []uint64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 7, 100, 0},
		{"as many as allowed", 3, 24, 3, timer, []uint64{0, 1, 2}, 7, 24, 0},
		{"one more", 4, 24, 3, timer, []uint64{0, 2}, 14, 24, 1},
		{"evenly", 10, 0, 3, timer, []uint64{0, 4, 8}, 28, 0, 1},
		{"latencies stay", 10, 0, 3, hardware, []uint64{0, 4, 8}, 7, 0, 1},
		{"too many touches", 3, 25, 3, timer, []uint64{0, 1, 2}, 7, 0, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := &collector{touches: make([]touch, tt.touches)}
			for i := range tt.rows {
				c.rows = append(c.rows, row{time: uint64(i), weight: 7})
			}
			said := c.thin(tt.most, tt.plan)
			var times []uint64
			for i := range c.rows {
				times = append(times, c.rows[i].time)
				if c.rows[i].weight != tt.weight {
					t.Errorf("weight %d, want %d", c.rows[i].weight, tt.weight)
				}
			}
			if !slices.Equal(times, tt.want) || len(c.touches) != tt.wantTouches || len(said) != tt.say {
				t.Errorf("times %v, want %v; %d touches, want %d; said %q", times, tt.want, len(c.touches), tt.wantTouches, said)
			}
		})
	}
}

// A moment takes as long as its samples need, and sometimes longer, where others want
// the processor too. Whatever they need, the page grows at least once a second, and the
// recorder takes a quarter of a processor, as long as a moment of watchFewest samples
// can be had for that. Programs are read once, when the first samples are shown, and
// when others begin.
func TestPace(t *testing.T) {
	others := []float64{1, 1.4, 0.9, 1.1, 1.6}
	const programs = 20 * time.Second // to read those that are new
	for _, each := range []time.Duration{time.Microsecond, 5 * time.Microsecond, 10 * time.Microsecond, 14 * time.Microsecond} {
		p, begun, spent, last := pace{rows: 50_000, pause: watchFirst}, time.Duration(0), time.Duration(0), 0
		const moments = 200
		for i := range moments {
			recorded := 2000 * (i + 1)
			begun += p.pause
			took := time.Duration(float64(min(recorded, p.rows)) * others[i%len(others)] * float64(each))
			last = min(recorded, p.rows)
			if i == 0 {
				recorded, took = 0, time.Millisecond // nothing is sampled yet
			}
			if i == 1 || i == 100 {
				took += programs
			}
			begun, spent = begun+took, spent+took
			p = p.next(recorded, took, 50_000)
		}
		begun, spent = begun-2*programs, spent-2*programs
		if rate := moments / begun.Seconds(); rate < 1 {
			t.Errorf("%v a sample: %.2f moments a second", each, rate)
		}
		if share := float64(spent) / float64(begun); share > 0.27 {
			t.Errorf("%v a sample: %.2f of a processor", each, share)
		}
		if last < watchFewest || each < 2*time.Microsecond && last != 50_000 {
			t.Errorf("%v a sample: %d are shown in the end", each, last)
		}
	}
	if p := (pace{}).next(1<<30, time.Minute, 0); p.rows != 0 {
		t.Errorf("%d of all samples are shown", p.rows)
	}
}

// textsOf is what a table of samples says, row by row and column by column.
func textsOf(s *table.Table) map[string][]string {
	out := map[string][]string{}
	for _, c := range s.Columns() {
		for i := range s.Rows() {
			text := ""
			if c.Has(i) {
				text = c.Text(i)
			}
			out[c.Name] = append(out[c.Name], text)
		}
	}
	return out
}

// What is shown while a program runs is the beginning of what is recorded, row by
// row, and looking changes nothing of that.
func TestWatched(t *testing.T) {
	program := filepath.Join(t.TempDir(), "chase")
	gcc := test.Peer(t, "gcc", "gcc")
	if out, err := exec.Command(gcc, "-O2", "-g", "-o", program, filepath.Join(test.Root(), "examples/record/chase.c")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	stop := make(chan struct{})
	end := sync.OnceFunc(func() { close(stop) })
	var moments []map[string][]string
	held, heldMoments, told := false, 0, []Sofar(nil)
	opt := &Options{Command: []string{program, "200000", "40000000000"}, Mode: Timer, Heap: true, Say: func(string) {}, Sampling: pmu.Options{Rate: 2000, Stacks: true}, Stop: stop}
	opt.Watch = &Watch{
		Rows: 1 << 20,
		Show: func(_ context.Context, r *run.Run) error {
			if held {
				heldMoments++
			}
			if s := r.Table("samples"); s.Rows() > 0 {
				moments = append(moments, textsOf(s))
			}
			if got := r.Recording.Ended; got != string(inBetween) {
				t.Errorf("ended %q", got)
			}
			return nil
		},
		Tell: func(now Sofar) {
			told = append(told, now)
			held = len(moments) == 3
			if held && now.Samples > len(moments[2]["time"])+200 {
				end()
			}
		},
		Held: func() bool { return held },
	}
	got, err := Record(context.Background(), opt)
	if err != nil {
		t.Skipf("this machine does not let us sample: %v", err)
	}
	if got.Outcome.Running == nil || got.Run.Recording.Ended != "stopped" || !strings.Contains(strings.Join(got.Run.Warnings, "\n"), "the program went on") {
		t.Errorf("ended %q, warnings %q", got.Run.Recording.Ended, got.Run.Warnings)
	}
	if got.Outcome.Running != nil {
		_ = syscall.Kill(got.Outcome.PID, syscall.SIGKILL)
		got.Outcome.Running.Wait()
	}
	whole := textsOf(got.Run.Table("samples"))
	if len(moments) != 3 || heldMoments != 0 {
		t.Fatalf("%d moments, %d of them after it was held", len(moments), heldMoments)
	}
	for k, m := range moments {
		n := len(m["time"])
		if k > 0 && n <= len(moments[k-1]["time"]) {
			t.Errorf("moment %d has %d samples, the one before %d", k, n, len(moments[k-1]["time"]))
		}
		for name, texts := range whole {
			was, ok := m[name]
			if !ok { // a column that no row had a value of by then
				was = make([]string, n)
			}
			for i := range n {
				if was[i] != texts[i] {
					t.Errorf("moment %d: %s of sample %d is %q, in the run %q", k, name, i, was[i], texts[i])
					break
				}
			}
		}
		for name := range m {
			if _, ok := whole[name]; !ok {
				t.Errorf("the run lacks the column %s of moment %d", name, k)
			}
		}
	}
	if last := told[len(told)-1]; last.Samples > len(whole["time"]) || last.Elapsed < time.Second {
		t.Errorf("told %+v of %d samples", last, len(whole["time"]))
	}
}
