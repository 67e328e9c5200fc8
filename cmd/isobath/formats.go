package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/formats"
)

// knownFormat is a format as `isobath formats --json` lists it.
type knownFormat struct {
	Name string    `json:"name"`
	Kind kind.Kind `json:"kind"`
}

// newFormats lists what error messages point to.
func newFormats() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "formats",
		Short: "The files that Isobath reads",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON {
				list := make([]knownFormat, len(formats.Known))
				for i, f := range formats.Known {
					list[i] = knownFormat{f.Name, f.Kind}
				}
				return printJSON(cmd.OutOrStdout(), list)
			}
			_, err := io.WriteString(cmd.OutOrStdout(), formatsText())
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, in the order in which files are tried")
	cmd.Long = formatsText()
	return cmd
}

func formatsText() string {
	text := "Files are recognised by their content, whatever their names. Isobath reads:\n"
	for _, k := range []kind.Kind{kind.Samples, kind.Refs, kind.Trace, kind.Mesh, kind.Topology} {
		separator := fmt.Sprintf("\n  %-9s ", k)
		for _, f := range formats.Known {
			if f.Kind == k {
				text += separator + f.Name
				separator = ", "
			}
		}
	}
	return text + "\n\nTables in CSV, Parquet or Arrow form need columns with the names that samples\nhave (time, cpu, latency, addr, level, file, line, …), or --map column=NAME.\n'docs/formats.md' describes each format.\n"
}
