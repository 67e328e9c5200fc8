package mpitrace

import (
	"debug/elf"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// goesPast matches the functions of the module mpi_f08 as MPICH has them: they call
// the profiling interface themselves, past what is put between a program and MPI.
// Those of Open MPI have the same names, in a library of another name.
var goesPast = regexp.MustCompile(`^p?mpi_\w+_f08(ts)?_(large_)?$`)

// traceable looks for programs of a command whose messages cannot be recorded, which
// is better said before it runs.
func traceable(command []string) error {
	for _, word := range command {
		if past, function := callsPast(word); past {
			return fmt.Errorf("%s uses the module mpi_f08 of MPICH (%s), whose functions go past any library between a program and MPI: no message could be recorded. Build it with 'use mpi', or with Open MPI; samples alone need no --mpi",
				filepath.Base(word), function)
		}
	}
	return nil
}

func callsPast(path string) (bool, string) {
	f, err := elf.Open(path)
	if err != nil {
		return false, "" // a flag, a number, a script
	}
	defer f.Close()
	libraries, err := f.ImportedLibraries()
	if err != nil {
		return false, ""
	}
	fortran := false
	for _, l := range libraries {
		fortran = fortran || strings.HasPrefix(l, "libmpichfort.") || strings.HasPrefix(l, "libmpifort.") // Debian's name, and the usual one
	}
	symbols, err := f.ImportedSymbols()
	if err != nil || !fortran {
		return false, ""
	}
	for _, s := range symbols {
		if goesPast.MatchString(s.Name) {
			return true, s.Name
		}
	}
	return false, ""
}
