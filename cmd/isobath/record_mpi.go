package main

import (
	"errors"

	"github.com/spf13/cobra"
)

// mpiFlags are the flags of `record --mpi`.
type mpiFlags struct{}

func (f *mpiFlags) add(cmd *cobra.Command) {}

func recordMPI(cmd *cobra.Command, rec recording, f mpiFlags) error {
	return errors.New("message traces cannot be recorded yet; open one written by Score-P (OTF2)")
}
