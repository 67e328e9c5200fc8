package chrometrace

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/formats/otf2"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trace.json")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// told lists the events of an archive, a location after the other.
func told(t *testing.T, a *otf2.Archive) []string {
	t.Helper()
	var out []string
	for _, l := range a.Defs.Locations {
		out = append(out, fmt.Sprintf("%s of %s", a.Defs.Text(l.Name), a.Defs.Text(a.Defs.LocationGroups[l.Group].Name)))
		r, err := a.Events(l.ID)
		if err != nil {
			t.Fatal(err)
		}
		var ev otf2.Event
		for r.Next(&ev) {
			text := fmt.Sprintf("%d %s", ev.Time, ev.Kind)
			switch ev.Kind {
			case otf2.Enter, otf2.Leave:
				text += " " + a.Defs.Text(a.Defs.Regions[uint32(ev.F[0])].Name)
			case otf2.MPISend, otf2.MPIRecv:
				text += fmt.Sprintf(" %d, %d bytes", ev.F[0], ev.F[3])
			case otf2.Metric:
				member := a.Defs.MetricMembers[a.Defs.MetricClasses[uint32(ev.F[0])].Members[0]]
				text += fmt.Sprintf(" %s %g", a.Defs.Text(member.Name), math.Float64frombits(ev.List[0].Bits))
			}
			out = append(out, text)
		}
	}
	return out
}

func expect(t *testing.T, a *otf2.Archive, want, notes []string) {
	t.Helper()
	if got := told(t, a); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	said := strings.Join(a.Warnings.List(), "\n")
	for _, n := range notes {
		if !strings.Contains(said, n) {
			t.Errorf("no note says %q: %s", n, said)
		}
	}
	if len(notes) == 0 && said != "" {
		t.Errorf("notes: %s", said)
	}
}

// wantSmall is what testdata/small.json tells.
var wantSmall = []string{
	"main of rank 0", "0 ENTER solve", "1500 ENTER MPI_Send", "1500 MPI_SEND 1, 64 bytes", "2250 LEAVE MPI_Send",
	"3000 METRIC memory heap 12", "3000 METRIC memory stack 0.5", "10000 LEAVE solve",
	"thread worker of rank 1", "1 ENTER step", "500 ENTER MPI_Recv", "3500 MPI_RECV 0, 64 bytes", "3500 LEAVE MPI_Recv", "5000 ENTER late", "9001 LEAVE late", "9001 LEAVE step"}

// TestRead reads the object form, plain and packed: both kinds of slices, a flow,
// a counter, names, and what is left out.
func TestRead(t *testing.T) {
	text, err := os.ReadFile("testdata/small.json")
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{string(text), "\xef\xbb\xbf" + string(text), packed.String()} {
		found, err := foreign.List{Format}.Identify(write(t, content))
		if err != nil {
			t.Fatal(err)
		}
		a, err := found.Trace()
		if err != nil {
			t.Fatal(err)
		}
		expect(t, a, wantSmall, []string{"phase b (asynchronous) are left out: they are on no thread", "phase i (moments) are left out: they take no time", "2 samples of call stacks", "cut there (1)"})
	}
}

// TestEndsByName reads tasks that share a thread: an end ends the slice of its
// name. One without a name, or with one that nothing has, ends the innermost.
func TestEndsByName(t *testing.T) {
	a, err := open(write(t, `[
{"ph":"B","pid":1,"tid":1,"ts":0,"name":"all"},
{"ph":"B","pid":1,"tid":1,"ts":1,"name":"a"},
{"ph":"B","pid":1,"tid":1,"ts":2,"name":"b"},
{"ph":"E","pid":1,"tid":1,"ts":3,"name":"a"},
{"ph":"B","pid":1,"tid":1,"ts":4,"name":"c"},
{"ph":"E","pid":1,"tid":1,"ts":5,"name":"b"},
{"ph":"E","pid":1,"tid":1,"ts":6,"name":"other"},
{"ph":"E","pid":1,"tid":1,"ts":7}]`))
	if err != nil {
		t.Fatal(err)
	}
	expect(t, a, []string{"thread 1 of process 1", "0 ENTER all", "1000 ENTER a", "2000 ENTER b", "3000 LEAVE b", "3000 LEAVE a", "4000 ENTER c", "6000 LEAVE c", "7000 LEAVE all"},
		[]string{"cut there (1)"})
}

// TestArray reads the array form of a writer that was interrupted, out of order:
// flows of the second form, one that passes through, one to the next slice, all
// between threads of one process.
func TestArray(t *testing.T) {
	a, err := open(write(t, `[
{"ph":"X","pid":5,"tid":2,"ts":20,"dur":10,"name":"run","bind_id":"0x9","flow_in":true,"flow_out":true},
{"ph":"X","pid":5,"tid":1,"ts":0,"dur":10,"name":"post","bind_id":"0x9","flow_out":true},
{"ph":"X","pid":5,"tid":1,"ts":40,"dur":5,"name":"done","bind_id":"0x9","flow_in":true},
{"ph":"s","pid":5,"tid":1,"ts":2,"id":"a","cat":"x"},
{"ph":"f","pid":5,"tid":2,"ts":3,"id":"a","cat":"x"},
{"ph":"X","pid":5,"tid":2,"ts":1,"dur":2,"name":"before"},
{"ph":"E","pid":5,"tid":2,"ts":50},
{"ph":"B","pid":5,"tid":2,"ts":60,"name":"open"},
{"ph":"B","pid":5,"tid":2,"ts":61,"name":7},`))
	if err != nil {
		t.Fatal(err)
	}
	expect(t, a, []string{
		"thread 1 of process 5", "0 ENTER post", "0 MPI_SEND 1, 0 bytes", "2000 MPI_SEND 1, 0 bytes", "10000 LEAVE post",
		"40000 ENTER done", "40000 MPI_RECV 1, 0 bytes", "45000 LEAVE done",
		"thread 2 of process 5", "1000 ENTER before", "3000 LEAVE before", "20000 ENTER run", "20000 MPI_RECV 0, 0 bytes", "20000 MPI_RECV 0, 0 bytes", "20000 MPI_SEND 0, 0 bytes", "30000 LEAVE run",
		"60000 ENTER open", "60000 LEAVE open"},
		[]string{"taken for a rank", "ends early", "without a beginning", "never end", "of another form", "have 0 bytes"})
}

// TestTimes keeps the nanoseconds of times since 1970.
func TestTimes(t *testing.T) {
	for text, want := range map[string]int64{"1763300000123456.789": 1763300000123456789, "0.5": 500, "-0.5": -500, "-2.25": -2250, `"12"`: 12000, "1e3": 1000000, "0.0005": 1, "1.23456": 1235} {
		if got, ok := nanoseconds([]byte(text)); !ok || got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
	for _, text := range []string{"", "null", "true", "1e300", "9223372036854775807", `"x"`, "{}", "1.-5"} {
		if got, ok := nanoseconds([]byte(text)); ok {
			t.Errorf("%s: %d, want none", text, got)
		}
	}
}

func TestDamaged(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"no slices", `{"traceEvents":[{"ph":"C","ts":1,"pid":1,"name":"c","args":{"v":1}}],"samples":[{},{}]}`, "it has 2 samples of call stacks, 1 values of counters"},
		{"no events", `{"traceEvents":[]}`, "no other events"},
		{"no list", `{"traceEvents":5}`, "is no list"},
		{"no JSON", `{"traceEvents":[{"ph`, "not a list of events"},
		{"a word", `"traceEvents"`, "neither a list"},
	} {
		if _, err := open(write(t, tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestSniff(t *testing.T) {
	for text, want := range map[string]bool{
		`{"traceEvents":[`: true, "[\n {\"name\":\"a\", \"ph\": \"X\"": true, `{"otherData":{},"traceEvents":[`: true,
		`[{"phase":"X"}]`: false, `[1,2]`: false, `{"dhatFileVersion":2}`: false, `[{"ph":"long"}]`: false, "": false,
	} {
		if got := Format.Sniff(&foreign.Input{Head: []byte(text)}); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// FuzzRead holds that no text makes the reader fail in another way than with an
// error, and that what comes out nests. The archive is tried in damagetest.
func FuzzRead(f *testing.F) {
	for _, text := range []string{`[{"ph":"X","ts":1,"dur":5},{"ph":"X","ts":2,"dur":9},{"ph":"s","ts":2,"id":1},{"ph":"f","ts":3,"id":1,"bp":"e"}]`, `{"traceEvents":[{"ph":"B","ts":1},{"ph":"B","ts":1},{"ph":"E","ts":1}]}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r := newReader()
		if r.read(bytes.NewReader(text)) != nil {
			return
		}
		r.nest()
		r.join()
		r.used()
		for _, th := range r.threads {
			for i, s := range th.slices {
				if s.parent >= int32(i) || s.end < s.start || s.parent >= 0 && (th.slices[s.parent].start > s.start || th.slices[s.parent].end < s.end) {
					t.Fatalf("slice %d: %+v in %+v", i, s, th.slices)
				}
			}
		}
	})
}
