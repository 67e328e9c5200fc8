package main

import (
	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/app/server"
	"github.com/isobath/isobath/internal/app/sides"
)

func newDemo() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "demo [cycles|locality|compare]",
		Short: "Show the built-in example run in the browser",
		Long: `Demo shows a run of samples of a stencil program, made by simulation. 'demo
cycles' shows reference traces of small programs, recorded by 'isobath record
--refs' from the sources in examples/loops. 'demo locality' shows a program worth
improving, examples/locality/pic.c: what other caches, machines and layouts
would make of its references. 'demo compare' shows the stencil program beside its
repaired form, in which memory lies near the threads that use it and neighbouring
planes run on neighbouring cores, and says what 'isobath diff' finds.`,
		Args:      cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"cycles", "locality", "compare"},
		RunE: func(cmd *cobra.Command, args []string) error {
			show := (*server.Loader).Demo
			if len(args) == 1 {
				show = map[string]opener{"cycles": (*server.Loader).DemoCycles, "locality": (*server.Loader).DemoLocality, "compare": (*server.Loader).DemoCompare}[args[0]]
				if args[0] != "compare" {
					f.page = args[0]
				}
			}
			if len(args) == 1 && args[0] == "compare" {
				c, err := sides.Demo(cmd.Context(), "file", "line")
				if err != nil {
					return err
				}
				f.compare = true
				say("A is the stencil program, B its repaired form: %s", c.Sentence())
			}
			return f.serve(cmd, nil, show)
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&f.noBrowser, "no-browser", false, "only print the address")
	return cmd
}
