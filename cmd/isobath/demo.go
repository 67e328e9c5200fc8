package main

import (
	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/app/server"
)

func newDemo() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "demo [cycles]",
		Short: "Show the built-in example run in the browser",
		Long: `Demo shows a run of samples of a stencil program, made by simulation. 'demo
cycles' shows reference traces of small programs, recorded by 'isobath record
--refs' from the sources in examples/loops.`,
		Args:      cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"cycles"},
		RunE: func(cmd *cobra.Command, args []string) error {
			show := (*server.Loader).Demo
			if len(args) == 1 {
				show = (*server.Loader).DemoCycles
			}
			return f.serve(cmd, nil, show)
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&f.noBrowser, "no-browser", false, "only print the address")
	return cmd
}
