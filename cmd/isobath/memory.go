package main

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/engine/clickhouse"
)

// memoryName is the flag that says how much memory the program may use.
const memoryName = "memory"

// unwatched are the verbs that are not ended when the heap outgrows the budget: a
// server watches each import instead, and a program that is recorded runs once.
var unwatched = []string{"open", "serve", "demo", "record", "ab", "cc", "mcp"}

// boundMemory gives every verb the flag --memory, unless it has one with a default
// of its own, and its context the budget that the flag says.
func boundMemory(root *cobra.Command) {
	root.PersistentFlags().String(memoryName, "", "`size` of memory to use beyond mapped files, such as 4GB (default half of what there is)")
	for _, cmd := range root.Commands() {
		if cmd.RunE != nil {
			cmd.RunE = bounded(cmd.RunE)
		}
	}
}

// tracesOnly are the verbs that read traces, which no engine keeps.
var tracesOnly = []string{"steps", "cycles", "reuse", "whatif", "advise", "sharing", "loops"}

// needsFile refuses what is kept in ClickHouse for verbs that cannot ask it.
func needsFile(cmd *cobra.Command, args []string) error {
	if !slices.Contains(tracesOnly, cmd.Name()) {
		return nil
	}
	for _, arg := range args {
		if !clickhouse.IsAddress(arg) {
			continue
		}
		a, err := clickhouse.ParseAddress(arg)
		if err != nil {
			return usageError{err}
		}
		return usagef("%s reads a trace, not samples that are kept in ClickHouse; what else is kept of the run comes with 'isobath import %s -o run.isobath'", cmd.Name(), a)
	}
	return nil
}

func bounded(run func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		bytes := budget.Default()
		if f := cmd.Flag(memoryName); f.Changed {
			var err error
			if bytes, err = parseBytes(f.Value.String()); err != nil {
				return usagef("--memory: %v", err)
			}
		}
		// Garbage counts too, so that it is collected before it takes as much as
		// what is in use, as it would without a limit.
		debug.SetMemoryLimit(bytes + bytes/4)
		ctx := budget.With(cmd.Context(), budget.New(bytes))
		work := func(ctx context.Context) (err error) {
			cmd.SetContext(ctx)
			if err := onOwnMesh(cmd, args); err != nil {
				return err
			}
			if err := needsFile(cmd, args); err != nil {
				return err
			}
			var dumps []string
			meshes := meshesOf(cmd)
			if meshes != nil {
				dumps = meshes.GetSlice()
			}
			files, e, err := withExamples(ctx, cmd, slices.Concat(args, dumps))
			if err != nil {
				return err
			}
			cmd.SetContext(context.WithValue(ctx, examplesKey{}, e))
			defer func() { err = errors.Join(e.named(err), e.remove()) }()
			if len(dumps) > 0 {
				if err := meshes.Replace(files[len(args):]); err != nil {
					return err
				}
			}
			return run(cmd, files[:len(args)])
		}
		if slices.Contains(unwatched, cmd.Name()) {
			return work(ctx)
		}
		return budget.Watch(ctx, "isobath "+cmd.Name()+" needs", work)
	}
}
