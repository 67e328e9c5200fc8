// Package mpitrace records the messages of an MPI program as an OTF2 archive: a
// library between the program and MPI, compiled on demand with the user's
// mpicc, writes one file per process, and these become the archive.
package mpitrace

import (
	"context"
	_ "embed"

	"isobath/internal/record/ccache"
)

//go:embed c/shim.c
var shimSource []byte

// Library compiles the library that is put between program and MPI.
func Library(ctx context.Context) (string, error) {
	return ccache.Build(ctx, ccache.Source{Name: "isobath-mpi.so", Text: source(), Compiler: "mpicc", Package: "libopenmpi-dev",
		Flags: []string{"-shared", "-fPIC", "-O2", "-Wall", "-pthread", "-ldl"}})
}
