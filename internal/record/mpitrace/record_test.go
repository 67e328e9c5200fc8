package mpitrace

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/messages/logical"
	"github.com/isobath/isobath/internal/messages/trace"
)

func compile(t testing.TB, compiler, pkg, source string) string {
	t.Helper()
	cc := test.Peer(t, compiler, pkg)
	exe := filepath.Join(t.TempDir(), "program")
	if out, err := exec.Command(cc, "-O1", "-w", source, "-o", exe).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return exe
}

// launch runs a program with n processes of Open MPI on however few processors
// there are.
func launch(t testing.TB, n string, program ...string) []string {
	test.Peer(t, "mpirun", "openmpi-bin")
	// Not one-sided communication by its component rdma: with more processes than
	// processors it once waited for ever in a lock, and once failed untraced.
	args := []string{"mpirun", "--oversubscribe", "--mca", "btl", "self,vader", "--mca", "osc", "pt2pt,sm", "--mca", "mpi_yield_when_idle", "1"}
	if os.Geteuid() == 0 {
		args = append(args, "--allow-run-as-root")
	}
	return append(append(args, "-np", n), program...)
}

func traced(t testing.TB, env []string, command ...string) (string, *Result) {
	t.Helper()
	archive := filepath.Join(t.TempDir(), "trace.otf2")
	res, err := Record(t.Context(), Options{Command: command, Archive: archive, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	return archive, res
}

// printed counts the records that the library's own reader prints, and fails
// on anything it complains about.
func printed(t testing.TB, archive string) map[string]int {
	t.Helper()
	tool := test.Peer(t, "otf2-print", "otf2-tools")
	cmd := exec.Command(tool, archive)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || stderr.Len() > 0 {
		t.Errorf("otf2-print: %v\n%s", err, &stderr)
	}
	if regexp.MustCompile(`INVALID`).Match(out) {
		t.Error("otf2-print finds a reference to nothing")
	}
	n := map[string]int{}
	for line := range strings.Lines(string(out)) {
		name, _, _ := strings.Cut(line, " ")
		if regexp.MustCompile(`^[A-Z_]+$`).MatchString(name) {
			n[name]++
		}
	}
	return n
}

func open(t testing.TB, archive string) *trace.Trace {
	t.Helper()
	tr, err := trace.Open(t.Context(), archive)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestEveryCall(t *testing.T) {
	exe := compile(t, "mpicc", "libopenmpi-dev", "testdata/every.c")
	archive, res := traced(t, nil, launch(t, "4", exe)...)
	if res.Exit != 0 || len(res.Notes) > 0 || res.Processes != 4 {
		t.Errorf("%+v", res)
	}
	n := printed(t, archive)
	enters := n["ENTER"]
	for _, varies := range []string{"ENTER", "LEAVE", "MPI_REQUEST_TEST"} { // polling and waiting for some
		delete(n, varies)
	}
	// By hand from every.c, times four processes.
	want := map[string]int{
		"MPI_ISEND":                        4 * (4 + 1 + 1 + 2), // persistent, probed, matched, completed in two ways
		"MPI_ISEND_COMPLETE":               4 * (4 + 1 + 1 + 2),
		"MPI_IRECV_REQUEST":                4 * (4 + 4 + 1),
		"MPI_IRECV":                        4 * (4 + 4),
		"MPI_REQUEST_CANCELLED":            4,
		"MPI_SEND":                         4 * (2 + 2 + 2), // exchanges, to the left, in communicators
		"MPI_RECV":                         4 * (2 + 1 + 1 + 2),
		"MPI_COLLECTIVE_BEGIN":             4 * (13 + 2 + 2),
		"MPI_COLLECTIVE_END":               4 * (13 + 2 + 2),
		"NON_BLOCKING_COLLECTIVE_REQUEST":  4 * 3,
		"NON_BLOCKING_COLLECTIVE_COMPLETE": 4 * 3,
	}
	if d := cmp.Diff(want, n); d != "" {
		t.Error(d)
	}
	if enters < 4*60 {
		t.Errorf("%d calls", enters)
	}
	tr := open(t, archive)
	if s, r := tr.Unmatched(); s+r != 0 || tr.Messages() != 4*(8+6) {
		t.Errorf("%d messages, %d sends and %d receives unmatched", tr.Messages(), s, r)
	}
}

// structure is the kind and step of every operation, by process.
func structure(t testing.TB, tr *trace.Trace) [][2]int {
	t.Helper()
	s, err := logical.Analyze(t.Context(), tr, logical.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out [][2]int
	for i := range s.Step {
		out = append(out, [2]int{int(s.Kind[i]), int(s.Step[i])})
	}
	return out
}

// The counts are those of the fixtures, which another tracer made of the
// same programs.
func TestFixturePrograms(t *testing.T) {
	dir := test.Fixture(t, "mpi")
	for _, tt := range []struct {
		name, source, n string
		args            []string
		events          uint64
		messages        int
	}{
		{"binomial16", "colls.c", "16", []string{"binomial", "1", "11", "3"}, 340, 30},
		{"ring16", "colls.c", "16", []string{"ring", "1", "11", "3"}, 2320, 240},
		{"dissem16", "colls.c", "16", []string{"dissem", "1", "11", "3"}, 800, 64},
		{"halo16", "halo.c", "16", []string{"10", "5", "5"}, 4832, 480},
		{"commtag8", "commtag.c", "8", nil, 192, 16},
		{"mergetree64", "mergetree.c", "64", []string{"8"}, 1732, 182},
	} {
		t.Run(tt.name, func(t *testing.T) {
			exe := compile(t, "mpicc", "libopenmpi-dev", filepath.Join(dir, tt.source))
			archive, res := traced(t, nil, launch(t, tt.n, append([]string{exe}, tt.args...)...)...)
			if res.Events != tt.events || res.Exit != 0 || len(res.Notes) > 0 {
				t.Errorf("%+v, want %d events", res, tt.events)
			}
			if d := cmp.Diff(printed(t, test.Fixture(t, "otf2/"+tt.name+"/traces.otf2")), printed(t, archive)); d != "" {
				t.Errorf("records differ from the fixture: %s", d)
			}
			tr := open(t, archive)
			if s, r := tr.Unmatched(); s+r != 0 || tr.Messages() != tt.messages {
				t.Errorf("%d messages, %d and %d unmatched; want %d", tr.Messages(), s, r, tt.messages)
			}
			if tt.name == "mergetree64" { // receives from anyone: their order is chance
				return
			}
			ours, theirs := structure(t, tr), structure(t, open(t, test.Fixture(t, "otf2/"+tt.name)))
			if d := cmp.Diff(theirs, ours); d != "" {
				t.Errorf("the logical structure differs from the fixture's: %s", d)
			}
		})
	}
}

// Processes with clocks of their own: the measured offsets put every receive
// after its send again.
func TestClocks(t *testing.T) {
	exe := compile(t, "mpicc", "libopenmpi-dev", "testdata/every.c")
	begun := time.Now()
	const hour = "3600000000000"
	archive, res := traced(t, []string{"ISOBATH_MPI_SKEW=" + hour}, launch(t, "4", exe, "many", "50")...)
	took := time.Since(begun)
	if res.Exit != 0 {
		t.Fatalf("%+v", res)
	}
	printed(t, archive)
	tr := open(t, archive)
	// Without the offsets the clocks of four ranks are three hours apart.
	if span := time.Duration(tr.Summary().SpanNS); span > took {
		t.Errorf("the trace of %v spans %v", took, span)
	}
}

// More events than fit a window are flushed, and the flush is told.
func TestFlush(t *testing.T) {
	exe := compile(t, "mpicc", "libopenmpi-dev", "testdata/every.c")
	archive, res := traced(t, nil, launch(t, "2", exe, "alone", "30000")...)
	n := printed(t, archive)
	if res.Exit != 0 || n["MPI_SEND"] != 60000 || n["MPI_RECV"] != 60000 || n["BUFFER_FLUSH"] < 4 {
		t.Errorf("%v, %+v", n, res)
	}
}

// A program that dies leaves a whole archive of what it did.
func TestAbort(t *testing.T) {
	exe := compile(t, "mpicc", "libopenmpi-dev", "testdata/every.c")
	archive, res := traced(t, nil, launch(t, "4", exe, "abort")...)
	n := printed(t, archive)
	if res.Exit == 0 || n["MPI_ISEND"] != 4*8 || n["ENTER"] != n["LEAVE"] || !strings.Contains(strings.Join(res.Notes, "\n"), "4 processes ended without MPI_Finalize") {
		t.Errorf("%v, %+v", n, res)
	}
}

// fortranModules are the two ways to MPI, and what differs between them.
var fortranModules = map[string][]string{
	"mpi":     {"MODULE", "mpi", "REQUEST", "integer", "STATUS", "integer :: st(MPI_STATUS_SIZE)"},
	"mpi_f08": {"MODULE", "mpi_f08", "REQUEST", "type(MPI_Request)", "STATUS", "type(MPI_Status) :: st"},
}

// fortranCounts are by hand from ring.f90, for three processes.
var fortranCounts = map[string]int{"MPI_IRECV_REQUEST": 9, "MPI_IRECV": 9, "MPI_ISEND": 9, "MPI_ISEND_COMPLETE": 9, "MPI_SEND": 4, "MPI_RECV": 4,
	"MPI_COLLECTIVE_BEGIN": 6, "MPI_COLLECTIVE_END": 6, "ENTER": 3*(1+9+1+2) + 2, "LEAVE": 3*(1+9+1+2) + 2}

// fortranSource writes the program for one module: whole words in capitals are
// places to fill.
func fortranSource(t *testing.T, name string, words []string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(words); i += 2 {
		text = regexp.MustCompile(`\b`+words[i]+`\b`).ReplaceAllLiteral(text, []byte(words[i+1]))
	}
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, text, 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestFortran(t *testing.T) {
	test.Peer(t, "gfortran", "gfortran")
	for name, words := range fortranModules {
		t.Run(name, func(t *testing.T) {
			exe := compile(t, "mpifort", "libopenmpi-dev", fortranSource(t, "ring.f90", words))
			archive, res := traced(t, nil, launch(t, "3", exe)...)
			if d := cmp.Diff(fortranCounts, printed(t, archive)); d != "" || res.Exit != 0 {
				t.Errorf("exit %d: %s", res.Exit, d)
			}
		})
	}
}

func TestNothingRecorded(t *testing.T) {
	test.Peer(t, "mpicc", "libopenmpi-dev")
	_, err := Record(t.Context(), Options{Command: []string{"true"}, Archive: filepath.Join(t.TempDir(), "a.otf2")})
	if err == nil || !strings.Contains(err.Error(), "MPI_Init") {
		t.Errorf("error = %v", err)
	}
}

// entered counts the calls of each function.
func entered(t testing.TB, archive string) map[string]int {
	t.Helper()
	out, err := exec.Command(test.Peer(t, "otf2-print", "otf2-tools"), archive).Output()
	if err != nil {
		t.Fatal(err)
	}
	n := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^ENTER .*Region: "([^"]*)"`).FindAllSubmatch(out, -1) {
		n[string(m[1])]++
	}
	return n
}

// others are the calls of others.c by one process, as every MPI has them; later
// those of MPI 4.
var (
	others = map[string]int{"MPI_Win_create": 1, "MPI_Win_fence": 3, "MPI_Put": 1, "MPI_Get": 1, "MPI_Accumulate": 1, "MPI_Win_lock": 1, "MPI_Rput": 1, "MPI_Win_flush": 1, "MPI_Win_unlock": 1,
		"MPI_Win_free": 1, "MPI_Dist_graph_create_adjacent": 1, "MPI_Neighbor_allgather": 1, "MPI_Ineighbor_allgather": 1, "MPI_File_open": 1, "MPI_File_write_at_all": 1, "MPI_File_sync": 1, "MPI_File_iread_at": 1,
		"MPI_File_close": 1, "MPI_Barrier": 1, "MPI_Wait": 3}
	later = map[string]int{"MPI_Isendrecv": 1, "MPI_Allreduce_init": 1, "MPI_Start": 3, "MPI_Wait": 3 + 4, "MPI_Request_free": 3, "MPI_Send_c": 1, "MPI_Recv_c": 1, "MPI_Psend_init": 1, "MPI_Precv_init": 1,
		"MPI_Startall": 1, "MPI_Pready": 1, "MPI_Pready_range": 1, "MPI_Waitall": 1}
)

// One-sided communication, files, neighbours and partitions.
func TestOtherCalls(t *testing.T) {
	check := func(t *testing.T, n int, archive string, res *Result, want map[string]int, messages, collectives int) {
		t.Helper()
		records, calls := printed(t, archive), entered(t, archive)
		if res.Exit != 0 || len(res.Notes) > 0 {
			t.Errorf("%+v", res)
		}
		for name, each := range want {
			if calls[name] != n*each {
				t.Errorf("%s was entered %d times, want %d", name, calls[name], n*each)
			}
		}
		if got := records["NON_BLOCKING_COLLECTIVE_COMPLETE"]; got != n*collectives {
			t.Errorf("%d persistent collectives, want %d", got, n*collectives)
		}
		tr := open(t, archive)
		if s, r := tr.Unmatched(); s+r != 0 || tr.Messages() != n*messages {
			t.Errorf("%d messages, want %d; %d sends and %d receives unmatched", tr.Messages(), n*messages, s, r)
		}
	}
	t.Run("Open MPI", func(t *testing.T) {
		exe := compile(t, "mpicc", "libopenmpi-dev", "testdata/others.c")
		archive, res := traced(t, nil, launch(t, "4", exe, filepath.Join(t.TempDir(), "file"))...)
		check(t, 4, archive, res, others, 0, 0)
	})
	t.Run("MPICH", func(t *testing.T) {
		test.Peer(t, "mpirun.mpich", "mpich")
		exe := compile(t, "mpicc.mpich", "libmpich-dev", "testdata/others.c")
		archive, res := traced(t, nil, "mpirun.mpich", "-n", "2", exe, filepath.Join(t.TempDir(), "file"))
		want := maps.Clone(others)
		maps.Copy(want, later)
		check(t, 2, archive, res, want, 3, 3)
	})
}

// The same in Fortran: a name with a hidden length, a communicator that exists
// later.
func TestOtherCallsInFortran(t *testing.T) {
	test.Peer(t, "gfortran", "gfortran")
	kinds := map[string][]string{
		"mpi":     {"MODULE", "mpi", "WINDOW", "integer", "FILE", "integer", "COMM", "integer", "REQUEST", "integer"},
		"mpi_f08": {"MODULE", "mpi_f08", "WINDOW", "type(MPI_Win)", "FILE", "type(MPI_File)", "COMM", "type(MPI_Comm)", "REQUEST", "type(MPI_Request)"},
	}
	for name, words := range kinds {
		t.Run(name, func(t *testing.T) {
			exe := compile(t, "mpifort", "libopenmpi-dev", fortranSource(t, "others.f90", words))
			archive, res := traced(t, nil, launch(t, "3", exe, filepath.Join(t.TempDir(), "file"))...)
			printed(t, archive)
			calls := entered(t, archive)
			for _, f := range []string{"MPI_Win_create", "MPI_Put", "MPI_Win_free", "MPI_File_open", "MPI_File_write_at", "MPI_File_close", "MPI_Comm_idup", "MPI_Barrier", "MPI_Comm_free"} {
				if calls[f] != 3 {
					t.Errorf("%s was entered %d times, want 3: %v", f, calls[f], calls)
				}
			}
			if res.Exit != 0 || len(res.Notes) > 0 {
				t.Errorf("%+v", res)
			}
		})
	}
}

// The same program with MPICH, whose handles are numbers and whose Fortran
// bindings call those of C.
func TestMPICH(t *testing.T) {
	test.Peer(t, "mpirun.mpich", "mpich")
	exe := compile(t, "mpicc.mpich", "libmpich-dev", "testdata/every.c")
	archive, res := traced(t, nil, "mpirun.mpich", "-n", "4", exe)
	n := printed(t, archive)
	if res.Exit != 0 || len(res.Notes) > 0 || n["MPI_ISEND"] != 4*8 || n["MPI_IRECV"] != 4*8 || n["MPI_COLLECTIVE_END"] != 4*17 || n["NON_BLOCKING_COLLECTIVE_COMPLETE"] != 12 {
		t.Errorf("%v, %+v", n, res)
	}
	tr := open(t, archive)
	if s, r := tr.Unmatched(); s+r != 0 || tr.Messages() != 4*(8+6) {
		t.Errorf("%d messages, %d sends and %d receives unmatched", tr.Messages(), s, r)
	}
	test.Peer(t, "mpifort.mpich", "libmpich-dev")
	t.Run("mpi_f08", func(t *testing.T) {
		exe := compile(t, "mpifort.mpich", "libmpich-dev", fortranSource(t, "ring.f90", fortranModules["mpi_f08"]))
		ran := filepath.Join(t.TempDir(), "ran")
		_, err := Record(t.Context(), Options{Command: []string{"mpirun.mpich", "-n", "2", "sh", "-c", "touch " + ran, exe}, Archive: filepath.Join(t.TempDir(), "a.otf2")})
		if err == nil || !strings.Contains(err.Error(), "mpi_f08 of MPICH") {
			t.Errorf("error = %v", err)
		}
		if _, err := os.Stat(ran); err == nil {
			t.Error("it ran all the same")
		}
	})
	t.Run("fortran", func(t *testing.T) {
		exe := compile(t, "mpifort.mpich", "libmpich-dev", fortranSource(t, "ring.f90", fortranModules["mpi"]))
		archive, res := traced(t, nil, "mpirun.mpich", "-n", "3", exe)
		if d := cmp.Diff(fortranCounts, printed(t, archive)); d != "" || res.Exit != 0 {
			t.Errorf("exit %d: %s", res.Exit, d)
		}
	})
}
