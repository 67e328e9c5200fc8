package main

import (
	"errors"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/record/reftrace"
)

func newCC() *cobra.Command {
	return &cobra.Command{
		Use:   "cc COMPILER [ARG...]",
		Short: "Compile a program so that every memory reference can be recorded fast",
		Long: `Compile a program so that 'isobath record --refs' can record its memory
references at millions a second. COMPILER is gcc, g++, gfortran or one like
them; all else is passed on. Hooks before every access are added by the
compiler (-fsanitize=thread) and the program is linked with our runtime, which
does nothing unless it is recorded.`,
		Example: `  isobath cc gcc -O1 heat.c -o heat
  isobath cc g++ -c grid.cpp
  make CC='isobath cc gcc' CXX='isobath cc g++'`,
		DisableFlagParsing: true, // they are the compiler's
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && (args[0] == "--help" || args[0] == "-h") {
				return cmd.Help()
			}
			if len(args) == 0 {
				return usagef("cc wants a compiler and its arguments, such as: isobath cc gcc -O1 heat.c -o heat")
			}
			err := reftrace.Compile(cmd.Context(), args, os.Stdout, os.Stderr)
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				return exitCode(exit.ExitCode())
			}
			return err
		},
	}
}
