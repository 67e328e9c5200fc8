package dataset

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/formats/otf2"
	"github.com/isobath/isobath/internal/messages/mpiprog"
)

// files writes two archives, two files of samples, a run of each kind and one of
// both, and returns where a name is.
func files(t *testing.T) func(names ...string) []string {
	t.Helper()
	dir := t.TempDir()
	in := func(names ...string) []string {
		out := make([]string, len(names))
		for i, name := range names {
			out[i] = filepath.Join(dir, name)
		}
		return out
	}
	write := func(name string, r *run.Run, archive string) {
		if archive != "" {
			r.More = func(folder string) error { return otf2.CopyFiles(in(archive)[0], filepath.Join(folder, "trace.otf2")) }
		}
		if err := r.Write(t.Context(), in(name)[0], false); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a.otf2", "b.otf2"} {
		p, err := mpiprog.New(in(name)[0], 2)
		if err != nil {
			t.Fatal(err)
		}
		p.Collective(mpiprog.World, mpiprog.Barrier)
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a.csv", "b.csv"} {
		if err := os.WriteFile(in(name)[0], []byte("time,cpu,latency\n1000,0,5\n2000,1,7\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("trace.isobath", &run.Run{Manifest: run.Manifest{Kind: kind.Trace, Format: "otf2"}}, "a.otf2")
	for name, archive := range map[string]string{"samples.isobath": "", "both.isobath": "a.otf2"} {
		r, err := Load(t.Context(), in("a.csv")[0], Options{})
		if err != nil {
			t.Fatal(err)
		}
		if archive != "" {
			r.Trace = "trace.otf2"
		}
		write(name, r, archive)
	}
	return in
}

func TestTogether(t *testing.T) {
	in := files(t)
	for names, want := range map[string]bool{
		"a.otf2 a.csv":                  true,
		"a.csv b.csv a.otf2":            true,
		"trace.isobath samples.isobath": true,
		"a.otf2 b.otf2":                 false,
		"a.csv b.csv":                   false,
		"a.otf2 b.otf2 a.csv":           false,
		"a.otf2 both.isobath":           false,
		"a.otf2":                        false,
		"a.otf2 missing.csv":            false,
		"":                              false,
	} {
		if got := Together(in(strings.Fields(names)...)); got != want {
			t.Errorf("together %q: %v", names, got)
		}
	}
}

func TestJoin(t *testing.T) {
	in := files(t)
	load := func(ctx context.Context, path string) (*run.Run, error) { return Load(ctx, path, Options{}) }
	for _, tt := range []struct {
		names   string
		rows    int
		archive string
		want    string // of the error
	}{
		{"a.csv a.otf2 b.csv", 4, "a.otf2", ""},
		{"a.csv b.csv", 4, "", ""},
		{"both.isobath b.csv", 4, "both.isobath/trace.otf2", ""},
		{"samples.isobath trace.isobath", 2, "trace.isobath", ""},
		{"a.otf2 b.otf2 a.csv", 0, "", "both message traces; a run holds one"},
		{"both.isobath b.otf2", 0, "", "both message traces; a run holds one"},
		{"a.otf2", 0, "", "a message trace alone"},
	} {
		j, err := Join(t.Context(), in(strings.Fields(tt.names)...), false, load)
		if tt.want != "" {
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v, want %q", tt.names, err, tt.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.names, err)
			continue
		}
		archive := strings.TrimPrefix(strings.TrimPrefix(j.Archive, filepath.Dir(in("a")[0])), "/")
		if samples := j.Contents[0]; archive != tt.archive || samples.Rows() != tt.rows || samples.Column("rank") == nil || j.Trace != "" {
			t.Errorf("%s: archive %q, %d rows, trace %q", tt.names, archive, samples.Rows(), j.Trace)
		}
		if tt.archive != "" && !slices.Contains(j.From, filepath.Base(tt.archive)) {
			t.Errorf("%s: from %v", tt.names, j.From)
		}
	}
}

// TestJoinDamaged: of many members, those that cannot be read are named and the
// rest is kept, if that is asked for.
func TestJoinDamaged(t *testing.T) {
	in := files(t)
	load := func(ctx context.Context, path string) (*run.Run, error) { return Load(ctx, path, Options{}) }
	if err := os.WriteFile(in("torn.csv")[0], []byte{0, 1, 2, 3}, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(in("samples.isobath")[0], "manifest.json"), 20); err != nil {
		t.Fatal(err)
	}
	members := in("a.csv", "torn.csv", "b.csv", "lost.csv", "samples.isobath")
	if _, err := Join(t.Context(), members, false, load); err == nil || !strings.Contains(err.Error(), "torn.csv") || !strings.Contains(err.Error(), "--salvage leaves out") {
		t.Errorf("without salvage: %v", err)
	}
	j, err := Join(t.Context(), members, true, load)
	if err != nil {
		t.Fatal(err)
	}
	if j.Runs != 2 || j.Contents[0].Rows() != 4 || len(j.Warnings) < 3 {
		t.Errorf("%d runs, %d rows, warnings %q", j.Runs, j.Contents[0].Rows(), j.Warnings)
	}
	for i, name := range []string{"torn.csv", "lost.csv", "samples.isobath"} {
		if !strings.HasPrefix(j.Warnings[i], name+" is left out: ") {
			t.Errorf("warning %q, want one about %s", j.Warnings[i], name)
		}
	}
	if _, err := Join(t.Context(), in("torn.csv", "lost.csv"), true, load); err == nil || !strings.Contains(err.Error(), "none of 2 files can be read") {
		t.Errorf("nothing left: %v", err)
	}
}

// TestJoinClocks: a message trace that measured the clocks of its ranks brings samples
// of several hosts together, on the clock of rank 0; what is not of the same execution
// or clock is left to the times of day.
func TestJoinClocks(t *testing.T) {
	const second = 1_000_000_000
	// Rank 1 is 700 s behind, and comes 2 µs nearer within a second.
	traced := func(name string, measured int) string {
		path := filepath.Join(t.TempDir(), name)
		w, err := otf2.Create(path, otf2.WriterOptions{Creator: "test", Resolution: second, Offset: 900 * second, Length: second})
		if err != nil {
			t.Fatal(err)
		}
		machine := w.Node("machine", "machine", otf2.None)
		var locations []uint64
		for rank, clock := range [][2]int64{{0, 0}, {700 * second, 700*second - 2000}} {
			e := w.Location("master thread", w.Process(fmt.Sprint("MPI Rank ", rank), machine))
			locations = append(locations, e.ID)
			from := uint64(900*second - clock[0])
			for k := range measured {
				e.ClockOffset(from+uint64(k)*second, clock[k])
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
		}
		w.CommLocations(locations)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return path
	}
	recorded := func(host string, rank int, ofDay int64, times ...uint64) string {
		at, err := table.New("samples", []*table.Column{table.Times("time", "ns", table.Measured, times, nil), table.Ints("cpu", "", table.Measured, make([]int64, len(times)), nil)})
		if err != nil {
			t.Fatal(err)
		}
		r := &run.Run{Contents: []*table.Table{at}, Manifest: run.Manifest{Kind: kind.Samples, Format: "record", Origin: kind.Origin{Host: host}, Recording: &run.Recording{Rank: &rank, ClockOffset: ofDay}}}
		path := filepath.Join(t.TempDir(), fmt.Sprintf("rank%d.isobath", rank))
		if err := r.Write(t.Context(), path, false); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const day = 1_700_000_000 * second
	zero := recorded("a", 0, day, 900*second+100, 900*second+second)
	// The time of day of its host is 3 ms ahead.
	one := recorded("b", 1, day+700*second+3_000_000, 200*second, 200*second+second)
	for _, tt := range []struct {
		name         string
		members      []string
		times, clock string
	}{
		{"measured", []string{traced("a.otf2", 2), one, zero}, "899.999999000 900.999999000 900.000000100 901.000000000",
			"the clocks of the 2 hosts are brought together by the messages of the trace; they drift by up to 1.00 µs meanwhile, and their times of day differ by up to 3.00 ms"},
		{"measured once", []string{traced("a.otf2", 1), one, zero}, "1700000900.003000000 1700000901.003000000 1700000900.000000100 1700000901.000000000", "by their times of day"},
		{"of another execution", []string{traced("a.otf2", 2), recorded("b", 1, day+700*second, 7*second), zero}, "1700000707.000000000 1700000900.000000100 1700000901.000000000", "by their times of day"},
		{"of a rank that the trace has not", []string{traced("a.otf2", 2), recorded("b", 2, day, 900*second), zero}, "1700000900.000000000 1700000900.000000100 1700000901.000000000", "by their times of day"},
		{"without a trace", []string{one, zero}, "1700000900.003000000 1700000901.003000000 1700000900.000000100 1700000901.000000000", "by their times of day"},
		{"of one host", []string{traced("a.otf2", 2), recorded("a", 1, day, 200*second), zero}, "200.000000000 900.000000100 901.000000000", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j, err := Join(t.Context(), tt.members, false, func(ctx context.Context, path string) (*run.Run, error) { return Load(ctx, path, Options{}) })
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			var times []string
			at := j.Table("samples").Column("time")
			for i := range at.Len() {
				ns := at.Base + uint64(at.Float(i))
				times = append(times, fmt.Sprintf("%d.%09d", ns/second, ns%second))
			}
			if got := strings.Join(times, " "); got != tt.times {
				t.Errorf("times %s, want %s", got, tt.times)
			}
			said := strings.Join(j.Warnings, "|")
			if !strings.Contains(said, tt.clock) || strings.Contains(said, "clocks of") != (tt.clock != "") {
				t.Errorf("said %q, want %q", said, tt.clock)
			}
			// Which clock the times are of is known afterwards: another host can join.
			d := j.Recording
			if ofDay := d.ClockOffset; tt.name == "measured" && (ofDay != day || d.Since1970) || tt.clock == "by their times of day" && !d.Since1970 {
				t.Errorf("%d ns to the time of day, since 1970: %v", ofDay, d.Since1970)
			}
		})
	}
}

// TestJoinMemory: members that wait to be joined take no memory, so that it does
// not grow with their number.
func TestJoinMemory(t *testing.T) {
	test.NoRaces(t, "it measures memory")
	const members, rows = 40, 20_000
	dir := t.TempDir()
	var text strings.Builder
	text.WriteString("time,cpu,latency,address,line\n")
	for i := range rows {
		fmt.Fprintf(&text, "%d,%d,%d,%#x,%d\n", i, i%8, i%300, i*64, i%50)
	}
	var paths []string
	for i := range members {
		paths = append(paths, filepath.Join(dir, fmt.Sprintf("node%d.csv", i)))
		if err := os.WriteFile(paths[i], []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	held := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := held()
	var waiting uint64
	j, err := Join(t.Context(), paths, false, func(ctx context.Context, path string) (*run.Run, error) {
		if path == paths[members-1] {
			waiting = held()
		}
		return Load(ctx, path, Options{})
	})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if n := j.Contents[0].Rows(); n != members*rows {
		t.Errorf("%d rows", n)
	}
	if grown := int64(waiting - before); grown > members*rows*4 {
		t.Errorf("%d members that wait take %.1f bytes a row", members-1, float64(grown)/(members-1)/rows)
	}
}
