package main

import (
	"errors"

	"github.com/spf13/cobra"
)

// refsFlags are the flags of `record --refs`.
type refsFlags struct{}

func (f *refsFlags) add(cmd *cobra.Command) {}

func recordRefs(cmd *cobra.Command, rec recording, f refsFlags) error {
	return errors.New("reference traces cannot be recorded yet; import one made by valgrind's lackey")
}
