package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/messages/trace"
)

// mpis are the implementations of MPI: the launcher and the compiler of each, and
// the packages that have them.
var mpis = []struct{ name, launcher, launchers, compiler, compilers string }{
	{"Open MPI", "mpirun.openmpi", "openmpi-bin", "mpicc.openmpi", "libopenmpi-dev"},
	{"MPICH", "mpirun.mpich", "mpich", "mpicc.mpich", "libmpich-dev"},
}

// buildMPI compiles a program of testdata/record with the compiler of an MPI.
func (r *recorder) buildMPI(mpicc, name string) string {
	r.t.Helper()
	source, program := filepath.Join(r.dir, name+".c"), filepath.Join(r.dir, name)
	text, err := os.ReadFile(filepath.Join("testdata/record", name+".c"))
	if err == nil {
		err = os.WriteFile(source, text, 0o644)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	if out, err := exec.Command(mpicc, "-g", "-O1", source, "-o", program).CombinedOutput(); err != nil {
		r.t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// underMPI is a call of isobath where a launcher may start more processes than
// there are processors.
func (r *recorder) underMPI(args ...string) *exec.Cmd {
	cmd := r.command(args...)
	cmd.Env = append(cmd.Env, "OMPI_MCA_rmaps_base_oversubscribe=1", "OMPI_MCA_btl=self,vader", "OMPI_MCA_mpi_yield_when_idle=1")
	return cmd
}

// One command records messages and samples of all ranks: the messages name the
// late rank, and its samples say which array it went through meanwhile.
func TestRecordMessagesAndSamples(t *testing.T) {
	for _, mpi := range mpis {
		t.Run(mpi.name, func(t *testing.T) {
			launcher, mpicc := test.Peer(t, mpi.launcher, mpi.launchers), test.Peer(t, mpi.compiler, mpi.compilers)
			r := newRecorder(t)
			program := r.buildMPI(mpicc, "strided")
			out, err := r.underMPI("record", "--mpi", "--samples", "--", launcher, "-n", "4", program, "10").CombinedOutput()
			if err != nil || !strings.Contains(string(out), "messages of 4 processes") {
				t.Fatalf("%v\n%s", err, out)
			}
			path := filepath.Join(r.dir, "strided.isobath")
			got, samples := r.open(path)
			if got.Trace == "" || got.Table("touches").Column("rank") == nil {
				t.Errorf("trace %q, warnings %q", got.Trace, got.Warnings)
			}
			r.ranksOf(samples)
			r.late(path)
			r.oneClock(path, samples)
			top, err := r.command("report", path, "--where", "rank = 2 & waiting = none", "--by", "symbol", "--json").Output()
			if err != nil || !bytes.Contains(top, []byte(`"grid"`)) || bytes.Contains(top, []byte("grid #")) {
				t.Errorf("%v\n%s", err, top)
			}
			left, err := filepath.Glob(filepath.Join(r.dir, "*"))
			if left = slices.DeleteFunc(left, func(f string) bool {
				return slices.Contains([]string{"isobath", "strided", "strided.c", "strided.isobath"}, filepath.Base(f))
			}); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestRecordOnHosts has a launcher start recorders on two hosts, which are two by their
// names: each leaves the samples of its rank, the messages tell their clocks, and a
// folder of all that becomes one run.
func TestRecordOnHosts(t *testing.T) {
	launcher, mpicc := test.Peer(t, "mpirun.openmpi", "openmpi-bin"), test.Peer(t, "mpicc.openmpi", "libopenmpi-dev")
	unshare := test.Peer(t, "unshare", "util-linux")
	if os.Geteuid() != 0 {
		t.Skip("only root may give processes a host name of their own")
	}
	r := newRecorder(t)
	program := r.buildMPI(mpicc, "strided")
	nodes := filepath.Join(r.dir, "nodes")
	if err := os.Mkdir(nodes, 0o777); err != nil {
		t.Fatal(err)
	}
	cmd := r.underMPI("record", "--mpi", "-o", "app.otf2", "--", launcher, "-n", "4",
		unshare, "--uts", "sh", "-c", `hostname "node$((OMPI_COMM_WORLD_RANK / 2))" && exec "$@"`, "sh", r.isobath, "record", "--rate", "4000", "--", program, "2")
	cmd.Dir, cmd.SysProcAttr = nodes, nil // names of hosts are root's
	cmd.Env = append(cmd.Env, "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	path := filepath.Join(r.dir, "all.isobath")
	if out, err := r.command("import", nodes, "-o", path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got, samples := r.open(path)
	r.ranksOf(samples)
	host, rank := samples.Column("host"), samples.Column("rank")
	for i := range samples.Rows() {
		if want := map[string]string{"0": "node0", "1": "node0", "2": "node1", "3": "node1"}[rank.Text(i)]; host.Text(i) != want {
			t.Fatalf("rank %s ran on %s, want %s", rank.Text(i), host.Text(i), want)
		}
	}
	all := strings.Join(got.Warnings, "\n")
	if !strings.Contains(all, "the clocks of the 2 hosts are brought together by the messages of the trace") {
		t.Errorf("clocks: %s", all)
	}
	// By that clock the program computed while its messages were recorded.
	tr, err := trace.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	time, function := samples.Column("time"), samples.Column("function")
	for i := range samples.Rows() {
		if at := int64(time.Base + uint64(time.Float(i)) - tr.Origin); function.Text(i) == "by_columns" && (at < tr.First || at > tr.First+tr.SpanNS()) {
			t.Fatalf("a sample at %d ns, messages from %d on for %d ns", at, tr.First, tr.SpanNS())
		}
	}
}

// ranksOf checks the rank of every sample of the program's two functions, of which
// one is rank 2's alone.
func (r *recorder) ranksOf(samples *table.Table) {
	r.t.Helper()
	rank, function := samples.Column("rank"), samples.Column("function")
	by := map[string]map[string]int{"by_rows": {}, "by_columns": {}}
	for i := range samples.Rows() {
		if of := by[function.Text(i)]; of != nil {
			of[rank.Text(i)]++
		}
	}
	rows, columns := by["by_rows"], by["by_columns"]
	if len(columns) != 1 || columns["2"] < 50 || len(rows) != 3 || rows["0"] == 0 || rows["1"] == 0 || rows["3"] == 0 {
		r.t.Errorf("ranks in by_columns %v, in by_rows %v", columns, rows)
	}
}

// late checks that the largest cause among computations is that of rank 2, with its
// line. Messages can cost more where ranks that wait take the processors from those
// that work, as MPICH's do if there are fewer processors than ranks.
func (r *recorder) late(path string) {
	r.t.Helper()
	text, err := r.command("steps", path, "--json").Output()
	var steps struct {
		Gains []struct {
			Kind, File string
			Line       int
			Processes  []int
		}
	}
	if err == nil {
		err = json.Unmarshal(text, &steps)
	}
	if err != nil || len(steps.Gains) == 0 {
		r.t.Fatalf("%v\n%s", err, text)
	}
	for steps.Gains[0].Kind != "compute" && len(steps.Gains) > 1 {
		steps.Gains = steps.Gains[1:]
	}
	if g := steps.Gains[0]; g.Kind != "compute" || !slices.Equal(g.Processes, []int{2}) || filepath.Base(g.File) != "strided.c" || g.Line != 38 {
		r.t.Errorf("the first computation among the causes is %+v", g)
	}
}

// oneClock checks that no sample of the program's own functions was taken while
// its rank was inside a call, by the times of the trace.
func (r *recorder) oneClock(path string, samples *table.Table) {
	r.t.Helper()
	tr, err := trace.Open(r.t.Context(), path)
	if err != nil {
		r.t.Fatal(err)
	}
	text, err := r.command("steps", path, "--tsv").Output()
	if err != nil {
		r.t.Fatal(err)
	}
	type call struct{ enter, exit uint64 }
	calls := map[string][]call{} // by rank
	lines := csv.NewReader(bytes.NewReader(text))
	lines.Comma = '\t'
	if _, err := lines.Read(); err != nil { // the head
		r.t.Fatal(err)
	}
	for {
		l, err := lines.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			r.t.Fatal(err)
		}
		enter, _ := strconv.ParseUint(l[1], 10, 64)
		exit, _ := strconv.ParseUint(l[2], 10, 64)
		calls[l[0]] = append(calls[l[0]], call{tr.Origin + enter, tr.Origin + exit})
	}
	time, rank, function := samples.Column("time"), samples.Column("rank"), samples.Column("function")
	computing, waiting := 0, 0
	for i := range samples.Rows() {
		at := time.Base + uint64(time.Float(i))
		inside := slices.ContainsFunc(calls[rank.Text(i)], func(c call) bool { return at > c.enter && at < c.exit })
		switch f := function.Text(i); {
		case f == "by_rows" || f == "by_columns":
			computing++
			if inside {
				r.t.Errorf("rank %s was in %s and in a call at %d", rank.Text(i), f, at)
			}
		case inside:
			waiting++
		}
	}
	if computing == 0 || waiting == 0 {
		r.t.Errorf("%d samples of the program, %d in calls", computing, waiting)
	}
}

// What cannot be recorded together is refused before anything runs; a program
// without MPI leaves its samples.
func TestRecordMessagesAndSamplesUsage(t *testing.T) {
	launcher := test.Peer(t, "mpirun.mpich", "mpich")
	test.Peer(t, "mpicc.mpich", "libmpich-dev")
	r := newRecorder(t)
	for _, args := range [][]string{
		{"--mpi", "--samples", "--children=false", "--", launcher, "true"},
		{"--mpi", "--samples", "--pid", "1"},
		{"--mpi", "--samples", "--last", "3s", "--", launcher, "true"},
		{"--mpi", "--samples", "-o", "x.otf2", "--", launcher, "true"},
		{"--mpi", "--samples", "--function", "f", "--", launcher, "true"},
		{"--refs", "--samples", "--", "true"},
	} {
		cmd := r.command(append([]string{"record"}, args...)...)
		if err := cmd.Run(); cmd.ProcessState.ExitCode() != 2 {
			t.Errorf("%v: %v, want exit code 2", args, err)
		}
	}
	cmd := r.command("record", "--mpi", "--samples", "-o", "none.isobath", "--", launcher, "-n", "2", "sh", "-c", "exit 3")
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 3 || !strings.Contains(string(out), "the messages are missing") {
		t.Errorf("%v\n%s", err, out)
	}
	if got, _ := r.open(filepath.Join(r.dir, "none.isobath")); got.Trace != "" {
		t.Errorf("trace %q", got.Trace)
	}
}
