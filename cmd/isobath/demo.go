package main

import (
	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/app/server"
	"github.com/isobath/isobath/internal/app/server/frame"
)

func newDemo() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "demo [cycles|locality]",
		Short: "Show the built-in example run in the browser",
		Long: `Demo shows a run of samples of a stencil program, made by simulation. 'demo
cycles' shows reference traces of small programs, recorded by 'isobath record
--refs' from the sources in examples/loops. 'demo locality' shows a program worth
improving, examples/locality/pic.c: what other caches, machines and layouts
would make of its references.`,
		Args:      cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"cycles", "locality"},
		RunE: func(cmd *cobra.Command, args []string) error {
			show := (*server.Loader).Demo
			if len(args) == 1 {
				f.page = args[0]
				show = map[string]func(*server.Loader) ([]*frame.Run, error){"cycles": (*server.Loader).DemoCycles, "locality": (*server.Loader).DemoLocality}[args[0]]
			}
			return f.serve(cmd, nil, show)
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&f.noBrowser, "no-browser", false, "only print the address")
	return cmd
}
