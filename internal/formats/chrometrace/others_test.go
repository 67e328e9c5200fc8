package chrometrace

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/formats/otf2"
)

// traced is an event as the format documents it, read with nothing of ours.
type traced struct {
	Ph, Name string
	Pid, Tid int64
	Ts, Dur  json.Number
}

// ofGo is what go build writes of itself: pairs of slices on several threads, a
// bare list, times since 1970, flows between actions.
func ofGo(t *testing.T) string {
	folder := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module m\n\ngo 1.26\n", "main.go": "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println() }\n"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(folder, "go.json")
	cmd := exec.Command("go", "build", "-debug-trace="+out, "-o", os.DevNull, ".")
	cmd.Dir, cmd.Env = folder, append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return out
}

// ofNode is what Node.js writes of a script: whole slices and pairs on one
// thread, asynchronous ones, moments, names.
func ofNode(t *testing.T) string {
	node := test.Peer(t, "node", "nodejs")
	folder := t.TempDir()
	script := filepath.Join(folder, "work.js")
	text := "const fs = require('fs');\nfor (let i = 0; i < 50; i++) fs.statSync(__filename);\nsetTimeout(() => {}, 2);\n"
	if err := os.WriteFile(script, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(folder, "node.json")
	cmd := exec.Command(node, "--trace-event-categories", "v8,node,node.async_hooks,node.fs.sync", "--trace-event-file-pattern", out, script)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return out
}

// TestOthers reads traces that other programs wrote of themselves just now, and
// compares with their events taken one by one: the same slices, the same flows.
func TestOthers(t *testing.T) {
	for _, tt := range []struct {
		name  string
		write func(*testing.T) string
	}{{"go build", ofGo}, {"node", ofNode}} {
		t.Run(tt.name, func(t *testing.T) {
			path := tt.write(t)
			found, err := foreign.List{Format}.Identify(path)
			if err != nil {
				t.Fatal(err)
			}
			a, err := found.Trace()
			if err != nil {
				t.Fatal(err)
			}
			events := eventsOf(t, path)
			wantFlows := 0
			for _, e := range events {
				if e.Ph == "s" {
					wantFlows++
				}
			}
			wantCalls := callsOf(t, events)
			gotCalls, sent, received := callsIn(t, a)
			if !slices.Equal(gotCalls, wantCalls) {
				t.Errorf("%d calls, want %d: first other %s", len(gotCalls), len(wantCalls), firstOther(gotCalls, wantCalls))
			}
			if sent != wantFlows || received != wantFlows {
				t.Errorf("%d messages leave and %d arrive, want %d: %s", sent, received, wantFlows, strings.Join(a.Warnings.List(), "; "))
			}
		})
	}
}

var outsideSlices = regexp.MustCompile(`ends of flows outside all slices are left out \((\d+)\)`)

// TestChromium reads a trace that Chromium writes of itself, with flows between
// its processes: every slice is a call and every flow a message.
func TestChromium(t *testing.T) {
	chromium := test.Peer(t, "chromium", "chromium")
	folder := t.TempDir()
	out := filepath.Join(folder, "trace.json")
	ctx, stop := context.WithTimeout(t.Context(), 3*time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, chromium, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+filepath.Join(folder, "user"),
		"--trace-startup=toplevel,toplevel.flow,blink,v8", "--trace-startup-format=json", "--trace-startup-file="+out, "--trace-startup-duration=0", "--dump-dom", "about:blank")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %.2000s", err, text)
	}
	a, err := open(out)
	if err != nil {
		t.Fatal(err)
	}
	phases := map[string]int{}
	for _, e := range eventsOf(t, out) {
		phases[e.Ph]++
	}
	calls, sent, received := callsIn(t, a)
	if want := phases["X"] + phases["B"]; len(calls) != want || want < 500 {
		t.Errorf("%d calls, want %d: %s", len(calls), want, strings.Join(a.Warnings.List(), "; "))
	}
	// How many ends lie outside all slices depends on when the trace began.
	outside := 0
	if said := outsideSlices.FindStringSubmatch(strings.Join(a.Warnings.List(), "; ")); said != nil {
		outside, _ = strconv.Atoi(said[1])
	}
	if want := min(phases["s"], phases["f"]); sent != received || sent < want/2 || sent+outside < want || sent > max(phases["s"], phases["f"]) || want < 20 {
		t.Errorf("%d messages leave and %d arrive of %d flows: %s", sent, received, want, strings.Join(a.Warnings.List(), "; "))
	}
}

func eventsOf(t *testing.T, path string) []traced {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var events []traced
	if json.Unmarshal(text, &events) == nil {
		return events
	}
	var file struct{ TraceEvents []traced }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	return file.TraceEvents
}

// call is a slice, with its times in nanoseconds after the first.
type call struct {
	name       string
	start, end int64
}

// callsOf pairs beginnings and ends of the same name thread by thread, in the
// order of time: a list may have any. go build has tasks on one thread that do
// not nest: what is inside another ends with it at the latest.
func callsOf(t *testing.T, events []traced) []string {
	t.Helper()
	var calls []call
	type thread struct{ pid, tid int64 }
	open := map[thread][]traced{}
	events = slices.DeleteFunc(events, func(e traced) bool { return !strings.Contains("B E X", e.Ph) })
	slices.SortStableFunc(events, func(a, b traced) int { return cmp.Compare(ns(t, a.Ts), ns(t, b.Ts)) })
	for _, e := range events {
		key := thread{e.Pid, e.Tid}
		switch e.Ph {
		case "B":
			open[key] = append(open[key], e)
		case "E":
			stack := open[key]
			k := len(stack) - 1
			for k >= 0 && stack[k].Name != e.Name {
				k--
			}
			if k < 0 { // of one that ended with the task around it
				continue
			}
			for _, b := range stack[k:] {
				calls = append(calls, call{b.Name, ns(t, b.Ts), ns(t, e.Ts)})
			}
			open[key] = stack[:k]
		case "X":
			calls = append(calls, call{e.Name, ns(t, e.Ts), ns(t, e.Ts) + ns(t, e.Dur)})
		}
	}
	return lines(calls)
}

// ns is a time in microseconds, whose digits are more than a floating-point
// number holds where it counts from 1970.
func ns(t *testing.T, us json.Number) int64 {
	t.Helper()
	r, ok := new(big.Rat).SetString(us.String())
	if !ok {
		t.Fatalf("%q is no time", us)
	}
	r.Mul(r, big.NewRat(1000, 1))
	return new(big.Int).Quo(r.Num(), r.Denom()).Int64()
}

// lines are calls in words, by time.
func lines(calls []call) []string {
	first := slices.MinFunc(calls, func(a, b call) int { return cmp.Compare(a.start, b.start) }).start
	var out []string
	for _, c := range calls {
		out = append(out, fmt.Sprintf("%012d %012d %s", c.start-first, c.end-first, c.name))
	}
	slices.Sort(out)
	return out
}

func callsIn(t *testing.T, a *otf2.Archive) (calls []string, sent, received int) {
	t.Helper()
	var all []call
	for _, l := range a.Defs.Locations {
		r, err := a.Events(l.ID)
		if err != nil {
			t.Fatal(err)
		}
		var open []call
		var ev otf2.Event
		for r.Next(&ev) {
			switch ev.Kind {
			case otf2.Enter:
				open = append(open, call{name: a.Defs.Text(a.Defs.Regions[uint32(ev.F[0])].Name), start: int64(ev.Time)})
			case otf2.Leave:
				c := open[len(open)-1]
				open = open[:len(open)-1]
				c.end = int64(ev.Time)
				all = append(all, c)
			case otf2.MPISend:
				sent++
			case otf2.MPIRecv:
				received++
			}
		}
	}
	return lines(all), sent, received
}

func firstOther(got, want []string) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("%q, want %q", got[i], want[i])
		}
	}
	return "at the end"
}
