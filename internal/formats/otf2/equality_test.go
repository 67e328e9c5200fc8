package otf2

import (
	"bufio"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
)

// sharedTraces are all archives of the shared data, with the number of events
// notes on them give.
var sharedTraces = []struct {
	name   string
	events int
}{
	{"amg8/traces.otf2", 139649},
	{"binomial16/traces.otf2", 340},
	{"commtag8/traces.otf2", 192},
	{"dissem16/traces.otf2", 800},
	{"halo16/traces.otf2", 4832},
	{"halo16_skew/traces.otf2", 2432},
	{"halo64_big/traces.otf2", 652928},
	{"lu8/traces.otf2", 71802},
	{"lulesh8/traces.otf2", 26752},
	{"mergetree64/traces.otf2", 1732},
	{"mg16/traces.otf2", 66928},
	{"ring16/traces.otf2", 2320},
	{"thirdparty/pipit-ping-pong-otf2/traces.otf2", 120},
	{"thirdparty/sst-elements-emberotf2/traces.otf2", 80},
	{"eztrace/halo16/halo_trace/eztrace_log.otf2", 3936},
}

// peerEvents runs otf2-print and returns, for each location, its lines as
// "NAME time rest" in file order.
func peerEvents(t *testing.T, path string) map[uint64][]string {
	t.Helper()
	cmd := exec.Command(test.Peer(t, "otf2-print", "otf2-tools"), path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := map[uint64][]string{}
	last := uint64(0)
	in := bufio.NewScanner(out)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		s := in.Text()
		if strings.HasPrefix(s, " ") {
			lines[last] = append(lines[last], strings.TrimSpace(s))
			continue
		}
		name, rest, _ := strings.Cut(s, " ")
		loc, rest, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
		time, rest, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
		id, err := strconv.ParseUint(loc, 10, 64)
		if err != nil {
			continue // a heading
		}
		last = id
		lines[id] = append(lines[id], name+" "+time+" "+strings.TrimSpace(rest))
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("otf2-print %s: %v", path, err)
	}
	return lines
}

// TestEqualsOTF2Print compares every event of every shared trace with the
// OTF2 library's own reading of it.
func TestEqualsOTF2Print(t *testing.T) {
	for _, tt := range sharedTraces {
		t.Run(strings.SplitN(tt.name, "/", 2)[0], func(t *testing.T) {
			path := test.Shared(t, "otf2/"+tt.name)
			a, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			want := peerEvents(t, path)
			events := 0
			members := map[uint32]Members{}
			for _, l := range a.Defs.Locations {
				got := locationLines(t, a, l.ID, members, &events)
				diff(t, l.ID, got, want[l.ID])
			}
			if events != tt.events {
				t.Errorf("%d events, want %d", events, tt.events)
			}
			t.Logf("%d events, %d warnings", events, len(a.Warnings.List()))
		})
	}
}

func locationLines(t *testing.T, a *Archive, id uint64, members map[uint32]Members, events *int) []string {
	t.Helper()
	r, err := a.Events(id)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	var ev Event
	for r.Next(&ev) {
		lines = append(lines, strings.TrimSpace(ev.Kind.String()+" "+strconv.FormatUint(ev.Time, 10)+" "+line(a, id, &ev, members)))
		if len(ev.Attributes) > 0 {
			lines = append(lines, attributeLine(a, ev.Attributes))
		}
	}
	if r.Partial() {
		t.Errorf("location %d reads as incomplete", id)
	}
	*events += r.Read()
	return lines
}

func diff(t *testing.T, location uint64, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		g, w := "(nothing)", "(nothing)"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = strings.TrimSpace(want[i])
		}
		if g != w {
			t.Fatalf("location %d, line %d of %d:\n got %s\nwant %s", location, i, len(want), g, w)
		}
	}
}
