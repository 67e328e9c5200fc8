package perfdata

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/code/perfevent"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/formats/foreign"
)

// line is a sample as perf script prints it; zero where it has no such field.
type line struct {
	Time, IP, Addr, Weight, DataSrc uint64
	PID, TID, CPU                   int64
	Event                           string
}

// refused are the files that perf 6.1, Debian's, cannot read: attrs of 136
// bytes in files, and COMPRESSED2. Their contents are checked by count below.
var refused = []string{"sleep.data", "sleep.compressed.data", "sleep.compressed2.data", "sleep.compressed2.pipe.data"}

func recordings(t *testing.T) []string {
	var out []string
	for _, pattern := range []string{
		filepath.Join(test.Fixture(t, "perf"), "local_*.data"),
		// Other people's, where they are.
		filepath.Join(test.Root(), "..", "shared", "data", "perf", "[!l]*.data*"),
		filepath.Join(test.Root(), "..", "shared", "data", "perf", "containers", "*.data*"),
	} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, names...)
	}
	if len(out) < 10 {
		t.Fatalf("%d recordings, want at least the 10 fixtures", len(out))
	}
	// More files to compare, by hand: ISOBATH_PERF_FILES='dir/*.data' go test …
	more, err := filepath.Glob(os.Getenv("ISOBATH_PERF_FILES"))
	if err != nil {
		t.Fatal(err)
	}
	return append(out, more...)
}

// Every sample of every recording equals what perf script prints, field by
// field.
func TestEqualsPerfScript(t *testing.T) {
	perf := test.Peer(t, "perf", "linux-perf")
	for _, path := range recordings(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			if slices.Contains(refused, filepath.Base(path)) {
				// Their counts are compared with the notes instead. A perf that
				// reads them must be compared with, so say when there is one.
				if err := exec.Command(perf, "script", "-i", path).Run(); err == nil {
					t.Error("perf reads this file now: take it out of the list of refused ones")
				}
				return
			}
			got := linesOf(t, importFile(t, path, foreign.Options{}))
			want := scriptLines(t, perf, path)
			if len(got) != len(want) {
				t.Fatalf("%d samples, perf script prints %d", len(got), len(want))
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("samples differ (-perf +ours):\n%s", diff)
			}
		})
	}
}

func importFile(t testing.TB, path string, opt foreign.Options) *foreign.Imported {
	t.Helper()
	in, err := foreign.Look(path)
	if err != nil {
		t.Fatal(err)
	}
	if !Format.Sniff(in) {
		t.Fatalf("%s is not recognised", path)
	}
	out, err := Format.Samples(context.Background(), in, &opt)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// linesOf reads the columns of an import back.
func linesOf(t testing.TB, im *foreign.Imported) []line {
	tab := im.Tables[0]
	out := make([]line, tab.Rows())
	number := func(name string, set func(*line, int64)) {
		if c := tab.Column(name); c != nil {
			for i := range out {
				if c.Has(i) {
					set(&out[i], int64(c.Float(i)))
				}
			}
		}
	}
	address := func(name string, set func(*line, uint64)) {
		for i, v := range tab.Column(name).Data.([]uint64) {
			set(&out[i], v)
		}
	}
	if time := tab.Column("time"); time != nil {
		for i, v := range time.Data.([]int64) {
			out[i].Time = uint64(v) + time.Base
		}
	}
	number("pid", func(l *line, v int64) { l.PID = v })
	number("tid", func(l *line, v int64) { l.TID = v })
	number("cpu", func(l *line, v int64) { l.CPU = v })
	number("weight", func(l *line, v int64) { l.Weight = uint64(v) })
	number("data_src", func(l *line, v int64) { l.DataSrc = uint64(v) })
	address("ip", func(l *line, v uint64) { l.IP = v })
	address("addr", func(l *line, v uint64) { l.Addr = v })
	for i := range out {
		out[i].Event = tab.Column("event").Text(i)
	}
	sortLines(out)
	return out
}

func sortLines(l []line) {
	slices.SortStableFunc(l, func(a, b line) int { return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.IP, b.IP)) })
}

// scriptLines runs perf script twice, so that each line has few fields and can
// be read without guessing.
func scriptLines(t *testing.T, perf, path string) []line {
	st := sharedFields(t, path)
	fields := "pid,tid,event,ip"
	if st&perfevent.SampleTime != 0 {
		fields += ",time"
	}
	if st&perfevent.SampleCPU != 0 {
		fields += ",cpu"
	}
	if st&perfevent.SampleAddr != 0 {
		fields += ",addr"
	}
	var out []line
	for _, text := range script(t, perf, path, fields) {
		out = append(out, parsePlace(t, text, st))
	}
	if st&perfevent.SampleDataSrc != 0 {
		fields = "pid,data_src"
		weighted := st&(perfevent.SampleWeight|perfevent.SampleWeightStruct) != 0
		if weighted {
			fields += ",weight"
		}
		for i, text := range script(t, perf, path, fields) {
			words := strings.Fields(text)
			out[i].DataSrc = hexWord(t, words[1])
			if weighted {
				out[i].Weight = uint64(decimal(t, words[len(words)-1]))
			}
		}
	}
	sortLines(out)
	return out
}

// sharedFields returns the fields that all events of a file have: perf prints
// no others.
func sharedFields(t *testing.T, path string) uint64 {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, mainFile)
	}
	st := ^uint64(0)
	for _, e := range scanFile(t, path).events {
		st &= e.SampleType
	}
	return st
}

func script(t *testing.T, perf, path, fields string) []string {
	cmd := exec.Command(perf, "script", "-f", "--ns", "-G", "-i", path, "-F", fields)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	body, err := cmd.Output()
	if err != nil {
		t.Fatalf("perf script -F %s: %v: %s", fields, err, stderr.String())
	}
	var out []string
	for s := bufio.NewScanner(bytes.NewReader(body)); s.Scan(); {
		if strings.TrimSpace(s.Text()) != "" {
			out = append(out, s.Text())
		}
	}
	return out
}

// parsePlace reads "pid/tid [cpu] time: event: addr ip".
func parsePlace(t *testing.T, text string, st uint64) (l line) {
	words := strings.Fields(text)
	if len(words) < 3 {
		t.Fatalf("perf script: %q", text)
	}
	pid, tid, _ := strings.Cut(words[0], "/")
	l.PID, l.TID = decimal(t, pid), decimal(t, tid)
	words = words[1:]
	if st&perfevent.SampleCPU != 0 {
		l.CPU = decimal(t, strings.Trim(words[0], "[]"))
		words = words[1:]
	}
	if st&perfevent.SampleTime != 0 {
		l.Time = uint64(decimal(t, strings.Replace(strings.TrimSuffix(words[0], ":"), ".", "", 1)))
		words = words[1:]
	}
	// A name may have spaces in it: "raw 0x1cd:HG:".
	end := slices.IndexFunc(words, func(w string) bool { return strings.HasSuffix(w, ":") })
	if end < 0 {
		t.Fatalf("perf script: %q", text)
	}
	rest := words[end+1:]
	l.Event = strings.TrimSuffix(strings.Join(words[:end+1], " "), ":")
	if st&perfevent.SampleAddr != 0 {
		l.Addr, rest = hexWord(t, rest[0]), rest[1:]
	}
	l.IP = hexWord(t, rest[0])
	return l
}

func hexWord(t *testing.T, s string) uint64 {
	n, err := strconv.ParseUint(s, 16, 64)
	if err != nil {
		t.Fatalf("perf script prints %q for a hexadecimal number", s)
	}
	return n
}

func decimal(t *testing.T, s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatalf("perf script prints %q for a number", s)
	}
	return n
}

// counts of the records of a file.
type tally struct {
	samples, mmap2, mmap, comm, fork, exit int
	byEvent                                string
}

// scanFile reads the records of a file without making tables.
func scanFile(t *testing.T, path string) *importer {
	t.Helper()
	r, size := openPath(t, path)
	f, err := open(r, size, false)
	if err != nil {
		t.Fatal(err)
	}
	im := newImporter(context.Background(), f, &foreign.Options{}, folder{})
	if err := f.scan(context.Background(), f.r, f.data, im); err != nil {
		t.Fatal(err)
	}
	f.nameEvents()
	return im
}

// How many records of each kind are in each file.
func TestCountsOfTheFixtures(t *testing.T) {
	for name, want := range map[string]tally{
		"google_pdc_perf.data.weight_struct":                     {14, 6930, 15, 2959, 2955, 59, "14 0"},
		"numatop_perf.data":                                      {14, 43, 87, -1, -1, -1, "14"},
		"local_cpuclock_d.data":                                  {163, 28, -1, -1, -1, -1, "163"},
		"local_multi.data":                                       {173, -1, -1, -1, -1, -1, "168 5"},
		"local_pagefaults_d.data":                                {449, -1, -1, -1, -1, -1, "449"},
		"local_phys.data":                                        {448, -1, -1, -1, -1, -1, "448"},
		"local_pipe.data":                                        {151, -1, -1, -1, -1, -1, "151"},
		"local_z.data":                                           {148, 28, -1, -1, -1, -1, "148"},
		"local_bid.data":                                         {149, 28, -1, -1, -1, -1, "149"},
		"local_callgraph.data":                                   {147, -1, -1, -1, -1, -1, "147"},
		"local_userregs.data":                                    {147, -1, -1, -1, -1, -1, "147"},
		"local_watchpoint.data":                                  {150, -1, -1, -1, -1, -1, "150"},
		"containers/sleep.data":                                  {7, 4, -1, -1, -1, -1, "7"},
		"containers/sleep.compressed.data":                       {8, 4, 45, -1, -1, -1, "8"},
		"containers/sleep.compressed2.data":                      {7, 4, -1, -1, -1, -1, "7"},
		"containers/sleep.compressed2.pipe.data":                 {7, -1, 165, -1, -1, -1, "7"},
		"containers/google_perf.data.group_desc-4.14":            {13, -1, -1, -1, -1, -1, "7 6"},
		"containers/google_perf.data.piped.header_features-4.16": {2, -1, -1, -1, -1, -1, "2"},
		"containers/kdab_contentsize.data":                       {69, -1, -1, -1, -1, -1, "69"},
		"containers/kdab_probe.data.file":                        {1, 8, 112, -1, -1, -1, "1"},
	} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			im := scanFile(t, test.Shared(t, "perf/"+name))
			got := tallyOf(im)
			for _, p := range []struct{ want, got *int }{{&want.mmap2, &got.mmap2}, {&want.mmap, &got.mmap}, {&want.comm, &got.comm}, {&want.fork, &got.fork}, {&want.exit, &got.exit}} {
				if *p.want < 0 {
					*p.got = -1
				}
			}
			if got != want {
				t.Errorf("records %+v, want %+v", got, want)
			}
			if im.skipped != [3]int{} {
				t.Errorf("samples left out by fault: %v", im.skipped)
			}
		})
	}
}

func tallyOf(im *importer) (out tally) {
	out.samples = im.rows.n
	for _, n := range im.notes {
		switch {
		case n.Kind == Map && n.Two:
			out.mmap2++
		case n.Kind == Map:
			out.mmap++
		case n.Kind == Comm:
			out.comm++
		case n.Kind == Fork:
			out.fork++
		case n.Kind == Exit:
			out.exit++
		}
	}
	var words []string
	for i := range im.events {
		words = append(words, fmt.Sprint(im.rows.byEvent[i]))
	}
	out.byEvent = strings.Join(words, " ")
	return out
}

func openPath(t testing.TB, path string) (*os.File, int64) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return f, info.Size()
}

func column(t *testing.T, im *foreign.Imported, name string) *table.Column {
	t.Helper()
	c := im.Tables[0].Column(name)
	if c == nil {
		t.Fatalf("no column %s", name)
	}
	return c
}

func counted(c *table.Column) map[string]int {
	out := map[string]int{}
	for i := range c.Len() {
		out[c.Text(i)]++
	}
	return out
}

func sum(c *table.Column) (total float64, valid int) {
	for i := range c.Len() {
		if c.Has(i) {
			total += c.Float(i)
			valid++
		}
	}
	return total, valid
}

func TestSkylakeLoads(t *testing.T) {
	im := importFile(t, test.Shared(t, "perf/google_pdc_perf.data.weight_struct"), foreign.Options{})
	if diff := gocmp.Diff(map[string]int{"L1": 4, "LFB": 5, "L2": 1, "L3": 4}, counted(column(t, im, "level"))); diff != "" {
		t.Errorf("levels:\n%s", diff)
	}
	if total, n := sum(column(t, im, "latency")); total != 1725 || n != 14 {
		t.Errorf("latencies sum to %v over %d samples, want 1725 over 14", total, n)
	}
	if got := counted(column(t, im, "lock"))["1"]; got != 2 {
		t.Errorf("%d locked, want 2", got)
	}
	if got := counted(column(t, im, "tlb"))["miss"]; got != 1 {
		t.Errorf("%d TLB misses, want 1", got)
	}
	first := linesOf(t, im)[0]
	want := line{Time: 13166196585610, IP: 0xffffffffa4470d46, Addr: 0x55ffba5cda08, Weight: 225, DataSrc: 0x11868100242, PID: 20132, TID: 20144, CPU: 28,
		Event: "MEM_TRANS_RETIRED.LOAD_LATENCY:ldlat=64:precise=2:mh:mg:pinned"}
	if first != want {
		t.Errorf("first sample %+v, want %+v", first, want)
	}
	if all := strings.Join(im.Warnings, "\n"); !strings.Contains(all, "at least 64 cycles") {
		t.Errorf("warnings do not tell of the latency threshold: %s", all)
	}
	if c := column(t, im, "ins_lat"); c.Provenance != table.Absent {
		t.Errorf("ins_lat is %v; the file has none", c.Provenance)
	}
}

func TestIvyBridgeWeights(t *testing.T) {
	im := importFile(t, test.Shared(t, "perf/numatop_perf.data"), foreign.Options{})
	c := column(t, im, "latency")
	var got []string
	for i := range c.Len() {
		got = append(got, c.Text(i))
	}
	if want := "7 7 12 7 7 519 7 8 7 12 7 7 7 7"; strings.Join(got, " ") != want {
		t.Errorf("latencies %v, want %s", got, want)
	}
	if lock := column(t, im, "lock"); lock.Text(5) != "1" || counted(lock)["1"] != 1 {
		t.Errorf("locked: %v, want only the sixth", counted(lock))
	}
}

func TestPhysicalAddresses(t *testing.T) {
	im := importFile(t, test.Fixture(t, "perf/local_phys.data"), foreign.Options{})
	if _, n := sum(column(t, im, "phys")); n != 3 {
		t.Errorf("%d physical addresses, want 3", n)
	}
	if total, n := sum(column(t, im, "data_page_size")); n != 4 || total != 4*4096 {
		t.Errorf("%d page sizes summing to %v, want 4 of 4096", n, total)
	}
}

func TestTimerSamplesHaveNoAddress(t *testing.T) {
	im := importFile(t, test.Fixture(t, "perf/local_cpuclock_d.data"), foreign.Options{})
	for _, name := range []string{"addr", "level", "latency"} {
		if c := column(t, im, name); c.Provenance != table.Absent {
			t.Errorf("%s is %v, want absent", name, c.Provenance)
		}
	}
}

func TestBuildIDsOfMappings(t *testing.T) {
	im := scanFile(t, test.Fixture(t, "perf/local_bid.data"))
	n := 0
	var matmul string
	for _, note := range im.notes {
		if note.BuildID != "" {
			n++
			if strings.HasSuffix(note.Name, "matmul") {
				matmul = fmt.Sprintf("%x", note.BuildID)
			}
		}
	}
	if n != 15 || matmul != "5e7b7528ef8502f6fb290a8ccc6344adce9fbace" {
		t.Errorf("%d build ids, matmul %s", n, matmul)
	}
}

func TestCallChains(t *testing.T) {
	im := scanFile(t, test.Fixture(t, "perf/local_callgraph.data"))
	for _, chain := range im.stacks.in.Names()[1:] {
		if len(chain) != 16 || im.U64([]byte(chain)) != 0xfffffffffffffe00 {
			t.Fatalf("chain %x, want a marker of user space and one address", chain)
		}
	}
}

func TestTopologyFromFeatures(t *testing.T) {
	im := scanFile(t, test.Shared(t, "perf/google_pdc_perf.data.weight_struct"))
	nodes := im.features.Nodes
	if len(nodes) != 2 || nodes[0].CPUs.String() != "0-27,56-83" || nodes[1].CPUs.String() != "28-55,84-111" {
		t.Errorf("nodes %v", nodes)
	}
	im = scanFile(t, test.Shared(t, "perf/numatop_perf.data"))
	if im.features.Available != 64 || im.features.Online != 32 || len(im.features.Nodes) != 4 {
		t.Errorf("features %+v", im.features)
	}
	im = scanFile(t, test.Shared(t, "perf/containers/google_perf.data.group_desc-4.14"))
	if g := im.features.Groups; len(g) != 1 || g[0] != (Group{"{anon_group}", 0, 2}) && g[0] != (Group{"anon_group", 0, 2}) {
		t.Errorf("groups %+v", g)
	}
}
