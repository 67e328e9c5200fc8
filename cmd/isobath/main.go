// Isobath shows why a program is slow: how deep its memory accesses go, how
// late its messages arrive, which loops its memory traffic runs in, and where
// in the simulated domain all that happens.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/app/refset"
	"github.com/isobath/isobath/internal/base/crash"
	"github.com/isobath/isobath/internal/base/parallel"
	"github.com/isobath/isobath/internal/base/scratch"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/formats"
)

func main() {
	ends := []os.Signal{syscall.SIGTERM}
	if !signal.Ignored(os.Interrupt) { // as a shell does for what runs behind it, and a program that we record inherits it
		ends = append(ends, os.Interrupt)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	// The first signal asks the work to end; with the default handling back, a
	// second one ends the program whatever the work does.
	context.AfterFunc(ctx, stop)
	scratch.Sweep(os.TempDir()) // of what killed ones left there
	code := execute(ctx, os.Args[1:])
	stop()
	scratch.Leave()
	os.Exit(code)
}

// usageError marks a wrong command line: exit code 2 instead of 1.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// exitCode carries the exit status of a child program to main; nothing is
// printed for it.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit status %d", int(c)) }

func execute(ctx context.Context, args []string) int {
	root := newRoot()
	out, messages := term.NewScreen(os.Stdout), term.NewScreen(os.Stderr)
	root.SetOut(out)
	root.SetErr(messages)
	defer out.Close()
	defer messages.Close()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	args = withVerb(root, args)
	root.SetArgs(args)
	var err error
	if _, _, unknown := root.Find(args); unknown != nil {
		err = usageError{unknown}
	} else {
		err = withReason(sentenceOf(parallel.Safely(func() error { return root.ExecuteContext(ctx) })))
	}
	if err == nil {
		return 0
	}
	var child exitCode
	if errors.As(err, &child) {
		return int(child)
	}
	say("%v", err)
	if errors.As(err, new(usageError)) || errors.As(err, new(refset.AskError)) {
		return 2
	}
	return 1
}

// faultFolder is where reports of faults of the program are written; empty if the
// user has no such place.
func faultFolder() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "isobath", "faults")
}

// sentenceOf makes a sentence of a panic, and writes a report that the user can attach.
func sentenceOf(err error) error {
	var p *parallel.Panic
	if !errors.As(err, &p) {
		return err
	}
	if folder := faultFolder(); folder != "" {
		if path, failed := crash.Write(folder, version, "a command", p); failed == nil {
			return fmt.Errorf("a fault of the program: %v; attach %s to a report of it, which holds nothing of your data", p.Value, path)
		}
	}
	return fmt.Errorf("a fault of the program: %w", p)
}

// withVerb puts open before a file that is named without a verb.
func withVerb(root *cobra.Command, args []string) []string {
	if len(args) > 0 && args[0] == formats.Stdin {
		return append([]string{"open"}, args...)
	}
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return args
	}
	if cmd, _, err := root.Find(args); err == nil && cmd != root {
		return args
	}
	// A word that is neither a verb nor a file is a verb misspelt.
	if _, err := os.Stat(args[0]); err != nil && !strings.ContainsAny(args[0], `./\\`) {
		return args
	}
	return append([]string{"open"}, args...)
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "isobath",
		Short:         "Shows why a program is slow: memory depth, late messages, loops, and where in the domain",
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       thisProgram().version(), // of --version
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.AddCommand(
		newSteps(),
		newOpen(),
		newServe(),
		newDemo(),
		newInfo(),
		newReport(),
		newRecord(),
		newCC(),
		newImport(),
		newEngine(),
		newExport(),
		newFormats(),
		newMesh(),
		newDiff(),
		newAB(),
		newStudy(),
		newDoctor(),
		newVersion(),
		newCycles(),
		newReuse(),
		newWhatIf(),
		newAdvise(),
		newSharing(),
		newLoops(),
		newTopology(),
		newMetrics(),
		newHeatmap(),
		newClusters(),
		newInsights(),
		newSearch(),
		newAssembly(),
		newCallers(),
		newWhy(),
		newSource(),
		newMCP(),
		newReference(),
		newGuide(),
	)
	boundMemory(root)
	return root
}
