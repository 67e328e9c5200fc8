package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/messages/mpiprog"
)

// printed is what otf2-print says about an archive: definitions, events by
// location, and the complaints.
type printed struct {
	definitions []string
	events      map[string][]string
	complaints  []string
}

// ours are the attribute lists that an export adds.
var ours = regexp.MustCompile(`(, )?\("isobath::[a-z_]+" <\d+>; INT64; -?\d+\)`)

func otf2Print(t *testing.T, archive string) printed {
	t.Helper()
	peer := test.Peer(t, "otf2-print", "otf2-tools")
	var out, complaints strings.Builder
	ask := func(args ...string) string {
		out.Reset()
		cmd := exec.Command(peer, append(args, archive)...)
		cmd.Stdout, cmd.Stderr = &out, &complaints
		if err := cmd.Run(); err != nil {
			t.Fatalf("otf2-print %s: %v\n%s", archive, err, complaints.String())
		}
		return out.String()
	}
	p := printed{events: map[string][]string{}}
	for line := range strings.Lines(ask("-G")) {
		p.definitions = append(p.definitions, strings.Join(strings.Fields(line), " "))
	}
	location := ""
	for line := range strings.Lines(ask()) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case words[0] == "ADDITIONAL":
			rest := strings.TrimSpace(ours.ReplaceAllString(strings.Join(words, " "), ""))
			if rest != "ADDITIONAL ATTRIBUTES:" {
				p.events[location] = append(p.events[location], rest)
			}
		case len(words) > 2:
			location = words[1]
			p.events[location] = append(p.events[location], strings.Join(words, " "))
		}
	}
	p.complaints = strings.Split(strings.ReplaceAll(complaints.String(), archive, ""), "\n")
	slices.Sort(p.complaints) // eztrace mixes kinds, which we write one after another
	return p
}

// exportArchive runs the verb and returns the archive it wrote.
func exportArchive(t *testing.T, from string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out.otf2")
	if err := runVerb("export", from, "-o", out); err != nil {
		t.Fatal(err)
	}
	return out
}

func runVerb(args ...string) error {
	root := newRoot()
	root.SetArgs(args)
	return root.ExecuteContext(context.Background())
}

// sameArchive compares an export with its source: every definition and every
// event by otf2-print, no new complaint, and the same steps.
func sameArchive(t *testing.T, from string) {
	t.Helper()
	out := exportArchive(t, from)
	want, got := otf2Print(t, from), otf2Print(t, out)
	if diff := cmp.Diff(want.events, got.events); diff != "" {
		t.Errorf("events (-source +export):\n%.2000s", diff)
	}
	if diff := cmp.Diff(want.complaints, got.complaints); diff != "" {
		t.Errorf("complaints of otf2-print (-source +export):\n%s", diff)
	}
	for _, d := range want.definitions {
		// eztrace promises fewer events than it has, and we count them.
		if !slices.Contains(got.definitions, d) && !strings.HasPrefix(d, "LOCATION ") {
			t.Errorf("the export has no definition %q", d)
		}
	}
	if len(got.events) == 0 {
		t.Error("no events")
	}
	for _, args := range [][]string{{"--json", "--ops", "--all"}, {"--json", "--critical", "--profile", "--clusters"}} {
		before, err := stepsOutput(t, append(args, from)...)
		if err != nil {
			t.Fatal(err)
		}
		after, err := stepsOutput(t, append(args, out)...)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Split(before, "\n"), strings.Split(after, "\n")); diff != "" {
			t.Errorf("steps %v (-source +export):\n%.2000s", args, diff)
		}
	}
	// An export of the export says the same once, not twice.
	again := exportArchive(t, out)
	for _, name := range []string{"out.def", "out/0.evt"} {
		a, err := os.ReadFile(filepath.Join(filepath.Dir(out), name))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(filepath.Dir(again), name))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(a, b) {
			t.Errorf("%s differs when the export is exported again", name)
		}
	}
}

func TestExportOTF2(t *testing.T) {
	from := filepath.Join(t.TempDir(), "from.otf2")
	p, err := mpiprog.New(from, 6)
	if err != nil {
		t.Fatal(err)
	}
	misses := p.Measure("misses", "lines")
	for r := range 6 {
		p.Compute(r, 100)
		p.Count(r, misses, uint64(r))
	}
	p.Halo(2, 3, 4, 1, 2, 4_000_000)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	sameArchive(t, from)
	for _, name := range []string{"ring16", "halo16_skew", "commtag8", "mergetree64", "lulesh8", "thirdparty/pipit-ping-pong-otf2", "thirdparty/sst-elements-emberotf2"} {
		t.Run(name, func(t *testing.T) { sameArchive(t, filepath.Join(test.Shared(t, "otf2/"+name), "traces.otf2")) })
	}
	t.Run("eztrace", func(t *testing.T) {
		sameArchive(t, test.Shared(t, "otf2/eztrace/halo16/halo_trace/eztrace_log.otf2"))
	})
}

// TestExportOTF2Run exports the trace of a run, alone and beside samples, and
// says what is missing where there is none.
func TestExportOTF2Run(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	halo := haloTrace(t)
	samples := "time,cpu,latency,rank\n"
	for range 20 {
		samples += "1000,0,30,0\n"
	}
	if err := os.WriteFile(in("samples.csv"), []byte(samples), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"import", halo, in("samples.csv"), "-o", in("both.isobath")},
		{"import", in("samples.csv"), "-o", in("samples.isobath")},
		{"export", in("both.isobath"), "-o", in("out.otf2")},
	} {
		if err := runVerb(args...); err != nil {
			t.Fatalf("%v: %v", args, err)
		}
	}
	before, _ := stepsOutput(t, "--tsv", halo)
	if after, _ := stepsOutput(t, "--tsv", in("out.otf2")); after != before || before == "" {
		t.Error("the trace of the run has other steps than its source")
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{in("samples.isobath"), "-o", in("a.otf2")}, "holds samples and no message trace"},
		{[]string{in("samples.csv"), "-o", in("a.otf2")}, "record one with 'isobath record --mpi'"},
		{[]string{halo, "-o", in("out.otf2")}, "out.otf2 exists; choose another name"},
		{[]string{halo, "-o", in("a.otf2"), "--where", "rank = 1"}, "--where chooses samples"},
	} {
		err := runVerb(append([]string{"export"}, tt.args...)...)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("export %v: %v, want %q", tt.args, err, tt.want)
		}
		if _, err := os.Stat(in("a")); err == nil {
			t.Errorf("export %v left files behind", tt.args)
		}
	}
}

// TestExportPerfettoSchema lets protoc read the exports of built-in runs with the
// published schema: nothing is unknown to it, and slices, flows, counters and
// samples are as many as in the JSON for Chrome, which is another writer.
func TestExportPerfettoSchema(t *testing.T) {
	protoc := test.Peer(t, "protoc", "protobuf-compiler")
	for _, run := range []string{"demo", "demo:messages"} {
		folder := t.TempDir()
		perfetto, chrome := filepath.Join(folder, "out.perfetto"), filepath.Join(folder, "out.json")
		for _, out := range []string{perfetto, chrome} {
			if err := runVerb("export", run, "-o", out); err != nil {
				t.Fatal(err)
			}
		}
		trace, err := os.Open(perfetto)
		if err != nil {
			t.Fatal(err)
		}
		defer trace.Close()
		cmd := exec.Command(protoc, "--decode=perfetto.protos.Trace", "-I", filepath.Join(test.Root(), "internal/base/tracks/testdata"), "perfetto.proto")
		cmd.Stdin = trace
		text, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		if field := regexp.MustCompile(`(?m)^ *\d+(:| \{).*$`).Find(text); field != nil {
			t.Errorf("%s: the schema has no field %s", run, field)
		}
		content, err := os.ReadFile(chrome)
		if err != nil {
			t.Fatal(err)
		}
		var file struct {
			TraceEvents []struct{ Ph string }
			Samples     []any
		}
		if err := json.Unmarshal(content, &file); err != nil {
			t.Fatal(err)
		}
		want := map[string]int{"perf_sample {": len(file.Samples)}
		for _, e := range file.TraceEvents {
			if name := map[string]string{"B": "TYPE_SLICE_BEGIN", "E": "TYPE_SLICE_END", "C": "TYPE_COUNTER", "s": " flow_ids:", "f": "terminating_flow_ids:"}[e.Ph]; name != "" {
				want[name]++
			}
		}
		if len(want) < 2 {
			t.Fatalf("%s: the JSON has only %v", run, want)
		}
		for name, n := range want {
			if got := bytes.Count(text, []byte(name)); got != n {
				t.Errorf("%s: %d times %q, want %d", run, got, name, n)
			}
		}
	}
}
