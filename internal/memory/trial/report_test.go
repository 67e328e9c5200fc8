package trial

import (
	"context"
	"errors"
	"math"
	"strconv"
	"syscall"
	"testing"
)

// TestRunCoin holds that the coin of a seed decides the order, that pairs that
// end differently do not count, and that an interrupt keeps what there is.
func TestRunCoin(t *testing.T) {
	var order []bool
	calls := 0
	tr := &Trial{Design: Design{Seed: 11, Looks: OneLook(6), Fixed: true}, Metric: LaneCPU, Measure: func(_ context.Context, _ int, b, first bool) (*Measured, error) {
		calls++
		if first {
			order = append(order, b)
		}
		m := &Measured{CPU: 1, Wall: 2}
		if b {
			m.CPU = 2
		}
		if calls == 4 {
			m.Status = 9
		}
		return m, nil
	}}
	r, err := tr.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if r.Pairs != 6 || calls != 14 || r.Stopped != Decided || *r.Lanes[0].Change != 1 || r.Lanes[0].Verdict != More || r.Lanes[1].Verdict == More {
		t.Errorf("%d pairs of %d runs, %s: %+v", r.Pairs, calls, r.Stopped, r.Lanes)
	}
	coin := NewCoin(11)
	for i, b := range order {
		if coin.BFirst() != b {
			t.Errorf("pair %d: B first %v", i, b)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	tr.Measure = func(ctx context.Context, pair int, _, _ bool) (*Measured, error) {
		if pair == 2 {
			cancel()
			return nil, ctx.Err()
		}
		return &Measured{CPU: 1, Wall: 1}, nil
	}
	if r, err = tr.Run(ctx); err != nil || r.Stopped != Interrupted || r.Pairs != 2 || r.Lanes[0].Verdict != Unsure {
		t.Errorf("interrupted: %+v, %v", r, err)
	}
	broken := errors.New("broken")
	tr.Measure = func(context.Context, int, bool, bool) (*Measured, error) { return nil, broken }
	if _, err = tr.Run(context.Background()); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

// TestCommand measures a real one.
func TestCommand(t *testing.T) {
	var e Execution
	m, err := e.Run(context.Background(), []string{"sh", "-c", "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; for i in 1 2 3; do echo line $i; done; exit 7"})
	if err != nil {
		t.Fatal(err)
	}
	if m.Status != 7 || m.Wall <= 0 || m.CPU <= 0 || m.CPU > 60 || m.Tail(2) != "line 2\nline 3" {
		t.Errorf("%+v, tail %q", m, m.Tail(2))
	}
	if m, err = e.Run(context.Background(), []string{"sh", "-c", "kill -9 $$"}); err != nil || m.Status != 128+9 {
		t.Errorf("killed: %+v, %v", m, err)
	}
}

// TestCommandLeavesOthers: what a command starts and leaves is not its time, and what
// it wrote before is kept.
func TestCommandLeavesOthers(t *testing.T) {
	var e Execution
	m, err := e.Run(t.Context(), []string{"sh", "-c", "sleep 100 & echo $!"})
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(m.Tail(1))
	if err != nil {
		t.Fatalf("%q: %v", m.Tail(1), err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Errorf("%d does not run any more: %v", pid, err)
	}
	if !m.Left || m.Wall > 60 {
		t.Errorf("%+v", m)
	}
	if m, err = e.Run(t.Context(), []string{"true"}); err != nil || m.Left {
		t.Errorf("%+v, %v", m, err)
	}
}

func FuzzReadReport(f *testing.F) {
	f.Add([]byte(`{"version":1,"metric":"cpu","most":60,"values":[{"a":{"cpu":1,"wall":1},"b":{"cpu":2,"wall":1}}]}`))
	f.Add([]byte(`{"version":1,"metric":"cpu","most":1,"values":[{},{},{}]}`))
	f.Add([]byte(`{"version":1,"metric":"wall","most":65536,"values":[{"a":{"cpu":1e-300}}],"lanes":[{"a":"x"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := ReadReport(text)
		if err != nil {
			return
		}
		d := Design{Looks: Looks(max(r.Most, 8))}
		d.Conclude(r)
		for _, l := range r.Lanes {
			if math.IsNaN(*l.Change) || l.Low != nil && math.IsNaN(*l.Low) {
				t.Errorf("%s: %v", text, l)
			}
		}
	})
}

// TestHopeless: commands that never end alike are given up soon, those that did once
// later, and it is said how they ended.
func TestHopeless(t *testing.T) {
	for _, tt := range []struct {
		name  string
		good  int // pairs at first
		tried int
		want  string
	}{
		{"never alike", 0, 10, "10 of 10 pairs do not compare, since the commands ended differently (the last: A ended with status 0, B with 3)"},
		{"once alike", 1, 50, "49 of 50 pairs do not compare, since the commands ended differently (the last: A ended with status 0, B with 3)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			runs := 0
			tr := &Trial{Design: Design{Seed: 5, Looks: Looks(20)}, Metric: LaneCPU, Measure: func(_ context.Context, _ int, b, _ bool) (*Measured, error) {
				m := &Measured{CPU: 1, Wall: 1}
				if b && runs/2 >= tt.good {
					m.Status = 3
				}
				runs++
				return m, nil
			}}
			_, err := tr.Run(t.Context())
			if err == nil || err.Error() != tt.want || runs != 2*tt.tried {
				t.Errorf("after %d runs: %v", runs, err)
			}
		})
	}
}

// TestLaneText: the medians of a lane need not show its change, which is that of the
// pairs, so it is said which is which.
func TestLaneText(t *testing.T) {
	r := &Report{Version: reportVersion, Metric: LaneCPU, Most: 3, Fixed: true, Stopped: MostPairs}
	for i, cpu := range [][2]float64{{.010, .020}, {.040, .080}, {.016, .008}} {
		r.Values = append(r.Values, Value{Pair: i, First: "a", A: Measured{CPU: cpu[0], Wall: 1}, B: Measured{CPU: cpu[1], Wall: 1}})
	}
	r.Design().Conclude(r)
	if got, want := r.Lanes[0].Text(), "cpu   median 16 ms → 20 ms; pair by pair +26.0 %"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
