package record

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/record/pmu"
)

// A thread that spins at a barrier waits; it does not use memory.
func TestWaitingIsNotTraffic(t *testing.T) {
	program := filepath.Join(t.TempDir(), "imbalance")
	if out, err := exec.Command(test.Peer(t, "gcc", "gcc"), "-O1", "-g", "-fopenmp", "-o", program, "testdata/imbalance.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Setenv("OMP_WAIT_POLICY", "active") // without it threads sleep after a while
	r := recorded(t, &Options{Command: []string{program}, Sampling: pmu.Options{Rate: 2000, Stacks: true}})
	samples := r.Table("samples")
	waiting, function, name := samples.Column("waiting"), samples.Column("function"), samples.Column("symbol")
	if waiting == nil {
		t.Fatal("nobody waits")
	}
	var waits, wrong int
	for i := range samples.Rows() {
		switch in := textOf(function, i); {
		case textOf(waiting, i) == "OpenMP":
			waits++
			if in == "work" || textOf(name, i) != "waiting: OpenMP" {
				wrong++
			}
		case in == "work" && textOf(waiting, i) != "":
			wrong++
		}
	}
	t.Logf("%d of %d samples wait", waits, samples.Rows())
	if waits < samples.Rows()/5 || wrong > 0 {
		t.Errorf("%d of %d samples wait, %d are told wrongly", waits, samples.Rows(), wrong)
	}
}

func TestWaitWords(t *testing.T) {
	stack := symbol.ParseStack("_start;main (a.c:3);solve (a.c:9);PMPI_Allreduce;MPIR_Allreduce;opal_progress")
	if call, in := messageCall(stack), region(stack); call != "MPI_Allreduce" || in != "solve" {
		t.Errorf("%q in %q", call, in)
	}
	team := symbol.ParseStack("__clone;start_thread;libgomp.so.1.0.0+0x1f7e3")
	if call, in := messageCall(team), region(team); call != "" || in != "" {
		t.Errorf("%q in %q", call, in)
	}
	for module, want := range map[string]string{"/usr/lib/libgomp.so.1.0.0": "OpenMP", "libmpich.so.12": "MPI", "/lib/libc.so.6": "lock", "a.out": "another thread"} {
		if got := waitsIn(module); got != want {
			t.Errorf("%s: %s, want %s", module, got, want)
		}
	}
}
