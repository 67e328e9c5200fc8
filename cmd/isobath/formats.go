package main

import (
	"fmt"

	"github.com/isobath/isobath/internal/data/kind"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/formats"
)

// newFormats is the help topic that error messages point to.
func newFormats() *cobra.Command {
	text := "Files are recognised by their content, whatever their names. Isobath reads:\n"
	for _, kind := range []kind.Kind{kind.Samples, kind.Refs, kind.Trace, kind.Mesh, kind.Topology} {
		text += fmt.Sprintf("\n  %-9s", kind)
		for _, f := range formats.Known {
			if f.Kind == kind {
				text += " " + f.Name
			}
		}
	}
	text += "\n\nTables in CSV, Parquet or Arrow form need columns with the names that samples\nhave (time, cpu, latency, addr, level, file, line, …), or --map column=NAME.\n'docs/formats.md' describes each format."
	return &cobra.Command{Use: "formats", Short: "The files that Isobath reads", Long: text}
}
