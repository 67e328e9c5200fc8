package trial

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// busyWord makes this test's program a command that works for some steps.
const busyWord = "ISOBATH_BUSY_STEPS"

func TestMain(m *testing.M) {
	if steps, err := strconv.Atoi(os.Getenv(busyWord)); err == nil {
		fmt.Println(busy(steps))
		return
	}
	os.Exit(m.Run())
}

// busy is work that no compiler takes out: each step needs the one before.
func busy(steps int) uint32 {
	x := uint32(1)
	for range steps {
		x = x*1664525 + 1013904223
	}
	return x
}

// liveTrial runs a trial of this program with so many steps a side.
func liveTrial(t *testing.T, seed uint64, most, a, b int) *Report {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := &Trial{Design: Design{Looks: Looks(most), Seed: seed}, Metric: LaneCPU, Measure: func(ctx context.Context, _ int, second, _ bool) (*Measured, error) {
		steps := a
		if second {
			steps = b
		}
		e := Execution{}
		m, err := e.Run(ctx, []string{"env", fmt.Sprintf("%s=%d", busyWord, steps), self})
		if err == nil && m.Status != 0 {
			err = fmt.Errorf("status %d: %s", m.Status, m.Tail(5))
		}
		return m, err
	}}
	r, err := run.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestLive runs real commands in pairs: twice the steps are called more. With
// ISOBATH_TRIALS ("100 20", by make trials) it runs that many trials of a command
// with itself, two busy loops beside it, and a fifth as many of 5 % more steps:
// at most 11 % of the former may call a difference, three in four of the latter
// must.
func TestLive(t *testing.T) {
	const steps = 45_000_000 // some 60 ms
	if r := liveTrial(t, 1, 20, steps/6, steps/3); r.Lanes[0].Verdict != More || *r.Lanes[0].Low <= 0 {
		t.Errorf("twice the steps: %+v after %d pairs", r.Lanes[0], r.Pairs)
	}
	var same, found int
	if _, err := fmt.Sscan(os.Getenv("ISOBATH_TRIALS"), &same, &found); err != nil {
		return
	}
	for range 2 {
		hog := exec.CommandContext(t.Context(), os.Args[0])
		hog.Env = append(os.Environ(), busyWord+"=1000000000000")
		if err := hog.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = hog.Process.Kill(); _ = hog.Wait() }()
	}
	called := 0
	for i := range same {
		if v := liveTrial(t, uint64(i+1), 20, steps, steps).Lanes[0].Verdict; v == More || v == Less {
			called++
		}
	}
	seen := 0
	for i := range found {
		if liveTrial(t, uint64(i+1), 60, steps, steps*21/20).Lanes[0].Verdict == More {
			seen++
		}
	}
	t.Logf("%d of %d trials of a command with itself called a difference; %d of %d found 5 %% more steps (%d CPUs, load %s)",
		called, same, seen, found, runtime.NumCPU(), strings.TrimSpace(loadNow()))
	if called*100 > same*11 || seen*4 < found*3 {
		t.Errorf("at most %d and at least %d are wanted", same*11/100, (found*3+3)/4)
	}
}

func loadNow() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return string(text)
}
