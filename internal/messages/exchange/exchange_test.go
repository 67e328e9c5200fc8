package exchange

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/base/tracks"
	"github.com/isobath/isobath/internal/messages/trace"
)

// sets are traces with blocking and non-blocking messages, several communicators
// and collectives with and without a root.
var sets = []string{"otf2/commtag8", "otf2/binomial16", "otf2/halo16", "otf2/mg16"}

func open(t *testing.T, path string) *trace.Trace {
	t.Helper()
	tr, err := trace.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// told is a trace in a form that does not depend on its format: operations with
// their times after the first event, messages as pairs, collectives with their
// members.
func told(t *trace.Trace, comms bool) []string {
	var out []string
	name := func(op int32) string {
		p := t.ProcOf(op)
		return fmt.Sprintf("rank %d %s %d-%d", t.Procs[p].Rank, t.Regions[t.Ops.Region[op]].Name, at(t, t.Ops.Enter[op]), at(t, t.Ops.Exit[op]))
	}
	for op := range t.Ops.Enter {
		out = append(out, fmt.Sprintf("%s %s", name(int32(op)), t.Ops.Kind[op]))
	}
	for s, r := range t.Sends.Match {
		if r >= 0 {
			text := fmt.Sprintf("%s -> %s tag %d bytes %d", name(t.Sends.Op[s]), name(t.Recvs.Op[r]), t.Sends.Tag[s], t.Sends.Bytes[s])
			if comms {
				text += " in " + t.Comms[t.Sends.Comm[s]].Name
			}
			out = append(out, text)
		}
	}
	for c := range t.Colls.Comm {
		text := fmt.Sprintf("collective %d root %d:", t.Colls.Code[c], t.Colls.Root[c])
		for _, m := range t.Colls.Member[t.Colls.Start[c]:t.Colls.Start[c+1]] {
			text += " " + name(m)
		}
		out = append(out, text)
	}
	slices.Sort(out)
	return out
}

func same(t *testing.T, got, want []string) {
	t.Helper()
	if slices.Equal(got, want) {
		return
	}
	shown := 0
	for _, line := range want {
		if !slices.Contains(got, line) && shown < 5 {
			t.Errorf("missing: %s", line)
			shown++
		}
	}
	for _, line := range got {
		if !slices.Contains(want, line) && shown < 10 {
			t.Errorf("new: %s", line)
			shown++
		}
	}
	t.Errorf("%d lines, want %d", len(got), len(want))
}

// TestParaver writes traces for Paraver and reads them again. The communicators
// of messages are not compared: the format has none.
func TestParaver(t *testing.T) {
	for _, set := range sets {
		t.Run(filepath.Base(set), func(t *testing.T) {
			tr := open(t, test.Fixture(t, set))
			p, err := NewParaver(t.Context(), tr)
			if err != nil {
				t.Fatal(err)
			}
			base := filepath.Join(t.TempDir(), "out")
			for ending, write := range map[string]func(*os.File) error{".prv": func(f *os.File) error { return p.WriteTrace(f) }, ".pcf": func(f *os.File) error { return p.WriteNames(f) }, ".row": func(f *os.File) error { return p.WriteRows(f) }} {
				f, err := os.Create(base + ending)
				if err != nil {
					t.Fatal(err)
				}
				if err := write(f); err != nil {
					t.Fatal(err)
				}
				f.Close()
			}
			grammar(t, base+".prv")
			same(t, told(open(t, base+".prv"), false), told(tr, false))
		})
	}
}

// grammar holds every line against the documented forms of records, and their
// order in time.
func grammar(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	header := regexp.MustCompile(`^#Paraver \(\d\d/\d\d/\d{4} at \d\d:\d\d\):\d+_ns:\d+\(\d+(,\d+)*\):1:\d+\(\d+:\d+(,\d+:\d+)*\),\d+$`)
	record := regexp.MustCompile(`^(c:\d+:\d+:\d+(:\d+)+|2(:\d+){5}(:\d+:\d+)+|3(:\d+){14})$`)
	last := ""
	for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		if i == 0 && !header.MatchString(line) || i > 0 && !record.MatchString(line) {
			t.Fatalf("line %d is none of the grammar: %s", i+1, line)
		}
		if f := strings.Split(line, ":"); i > 0 && f[0] != "c" {
			if now := fmt.Sprintf("%020s", f[5]); now < last {
				t.Fatalf("line %d is before the one above it", i+1)
			} else {
				last = now
			}
		}
	}
}

// TestCTF writes traces as CTF, reads them again, and lets Babeltrace read them,
// which must see the same messages, and write them in its own way.
func TestCTF(t *testing.T) {
	for _, set := range sets[:3] {
		t.Run(filepath.Base(set), func(t *testing.T) {
			tr := open(t, test.Fixture(t, set))
			folder := filepath.Join(t.TempDir(), "out.ctf")
			if err := CTF(t.Context(), tr, folder); err != nil {
				t.Fatal(err)
			}
			want := told(tr, true)
			same(t, told(open(t, folder), true), want)
			babeltrace := test.Peer(t, "babeltrace2", "babeltrace2")
			printed, err := exec.Command(babeltrace, folder).CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, printed)
			}
			for name, n := range map[string]int{"enter": entered(t, tr), "leave": entered(t, tr), "mpi_i?send": len(tr.Sends.Op), "mpi_i?recv": len(tr.Recvs.Op)} {
				if got := len(regexp.MustCompile(`isobath:`+name+`: `).FindAll(printed, -1)); got != n {
					t.Errorf("babeltrace2 sees %d events %s, want %d", got, name, n)
				}
			}
			copied := filepath.Join(t.TempDir(), "copied")
			if out, err := exec.Command(babeltrace, folder, "--component", "sink.ctf.fs", "--params", fmt.Sprintf("path=%q", copied)).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			same(t, told(open(t, copied), true), want)
		})
	}
}

// entered counts the regions of all locations.
func entered(t *testing.T, tr *trace.Trace) int {
	n := 0
	for _, r := range rowsOf(tr) {
		s, err := tr.Stacks(t.Context(), []int32{r.number})
		if err != nil {
			t.Fatal(err)
		}
		n += len(s[0].Region)
	}
	return n
}

// TestChrome holds that slices nest, that every message is a flow from the call
// that sends to the one that receives, and that both are on their ranks.
func TestChrome(t *testing.T) {
	for _, set := range sets {
		tr := open(t, test.Fixture(t, set))
		var b bytes.Buffer
		if err := Tracks(t.Context(), tracks.NewChrome(&b), tr); err != nil {
			t.Fatal(err)
		}
		var file struct {
			TraceEvents []struct {
				Ph, Name string
				Pid, Tid int64
				ID       uint64
				Ts       float64
			}
		}
		if err := json.Unmarshal(b.Bytes(), &file); err != nil {
			t.Fatal(err)
		}
		stacks, last := map[int64][]string{}, map[int64]float64{}
		from, to := map[uint64]string{}, map[uint64]string{}
		for i, e := range file.TraceEvents {
			if e.Ph == "M" {
				continue
			}
			if e.Ts < last[e.Tid] {
				t.Fatalf("%s: event %d falls back in time", set, i)
			}
			last[e.Tid] = e.Ts
			open := stacks[e.Tid]
			switch e.Ph {
			case "B":
				stacks[e.Tid] = append(open, e.Name)
			case "E":
				stacks[e.Tid] = open[:len(open)-1]
			case "s":
				from[e.ID] = fmt.Sprintf("%d %s", e.Pid, open[len(open)-1])
			case "f":
				to[e.ID] = fmt.Sprintf("%d %s", e.Pid, open[len(open)-1])
			}
		}
		for s, r := range tr.Sends.Match {
			if r < 0 {
				continue
			}
			name := func(op int32) string {
				return fmt.Sprintf("%d %s", tr.Procs[tr.ProcOf(op)].Rank, tr.Regions[tr.Ops.Region[op]].Name)
			}
			if id := uint64(s) + 1; from[id] != name(tr.Sends.Op[s]) || to[id] != name(tr.Recvs.Op[r]) {
				t.Fatalf("%s: message %d goes from %q to %q, want %q and %q", set, id, from[id], to[id], name(tr.Sends.Op[s]), name(tr.Recvs.Op[r]))
			}
		}
		if len(from) != tr.Messages() {
			t.Errorf("%s: %d flows of %d messages", set, len(from), tr.Messages())
		}
		for tid, open := range stacks {
			if len(open) > 0 {
				t.Errorf("%s: %q stay open on %d", set, open, tid)
			}
		}
	}
}

// TestChromeAgain reads what was written for timeline viewers: the same calls
// send the same messages to each other. Tags, communicators and where in a call
// that sends and receives its message left are not in it.
func TestChromeAgain(t *testing.T) {
	messages := func(tr *trace.Trace) (out []string) {
		name := func(op int32, times []int64) string {
			return fmt.Sprintf("rank %d %s %d", tr.Procs[tr.ProcOf(op)].Rank, tr.Regions[tr.Ops.Region[op]].Name, at(tr, times[op]))
		}
		for s, r := range tr.Sends.Match {
			if r >= 0 {
				out = append(out, fmt.Sprintf("%s -> %s", name(tr.Sends.Op[s], tr.Ops.Enter), name(tr.Recvs.Op[r], tr.Ops.Exit)))
			}
		}
		slices.Sort(out)
		return out
	}
	for _, set := range sets {
		tr := open(t, test.Fixture(t, set))
		path := filepath.Join(t.TempDir(), "out.json")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := Tracks(t.Context(), tracks.NewChrome(f), tr); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		again := open(t, path)
		if len(again.Procs) != len(tr.Procs) || entered(t, again) != entered(t, tr) {
			t.Errorf("%s: %d processes with %d calls, want %d with %d", set, len(again.Procs), entered(t, again), len(tr.Procs), entered(t, tr))
		}
		same(t, messages(again), messages(tr))
	}
}
