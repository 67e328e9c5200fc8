package main

import (
	"github.com/spf13/cobra"

	"isobath/internal/server"
)

func newDemo() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show the built-in example run in the browser",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.serve(cmd, nil, (*server.Loader).Demo)
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&f.noBrowser, "no-browser", false, "only print the address")
	return cmd
}
