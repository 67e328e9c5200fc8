// Package mpitrace records the messages of an MPI program as an OTF2 archive: a
// library between the program and MPI, compiled on demand with the user's
// mpicc, writes one file per process, and these become the archive.
package mpitrace

import (
	"context"
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/isobath/isobath/internal/record/ccache"
)

//go:embed c/shim.c
var shimSource []byte

//go:embed c/sided.c
var sidedSource []byte

// Library compiles the library that is put between program and MPI, with the
// compiler of the MPI that the launcher belongs to.
func Library(ctx context.Context, launcher string) (string, error) {
	return ccache.Build(ctx, ccache.Source{Name: "isobath-mpi.so", Text: source(), Compiler: compiler(kindOf(ctx, launcher)), Package: "libopenmpi-dev or libmpich-dev",
		Flags: []string{"-shared", "-fPIC", "-O2", "-pthread", "-ldl"}})
}

// family is an implementation of MPI, as far as its launcher differs.
type family uint8

const (
	unknownMPI family = iota
	openMPI
	mpich // and those made from it
)

// kindOf asks a launcher which MPI it belongs to. Launchers of batch systems
// start any of them.
func kindOf(ctx context.Context, launcher string) family {
	if !strings.HasPrefix(filepath.Base(launcher), "mpi") && !strings.HasSuffix(launcher, "rterun") {
		return unknownMPI
	}
	version, _ := exec.CommandContext(ctx, launcher, "--version").CombinedOutput() // unknown is no error
	switch text := string(version); {
	case strings.Contains(text, "Open MPI"), strings.Contains(text, "OpenRTE"), strings.Contains(text, "PRRTE"):
		return openMPI
	case strings.Contains(text, "HYDRA"), strings.Contains(text, "Intel(R) MPI"):
		return mpich
	}
	return unknownMPI
}

// compiler is the mpicc of a family. Debian keeps several side by side. MPICC
// overrides the choice.
func compiler(f family) string {
	if cc := os.Getenv("MPICC"); cc != "" {
		return cc
	}
	name := map[family]string{openMPI: "mpicc.openmpi", mpich: "mpicc.mpich"}[f]
	if _, err := exec.LookPath(name); name != "" && err == nil {
		return name
	}
	return "mpicc"
}
