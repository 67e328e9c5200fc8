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
	// Ending is that of a file that export writes; formats that are read are
	// recognised by their content and have none.
	Ending string `json:"ending,omitempty"`
	Writes bool   `json:"writes,omitempty"`
}

// knownFormats lists what is read, in the order in which files are tried, and
// then what is written: once for each kind of data.
func knownFormats() []knownFormat {
	list := make([]knownFormat, 0, len(formats.Known)+len(writtenFormats))
	for _, f := range formats.Known {
		list = append(list, knownFormat{Name: f.Name, Kind: f.Kind})
	}
	for _, f := range writtenFormats {
		if f.samples != nil {
			list = append(list, knownFormat{f.name, kind.Samples, f.ending, true})
		}
		if f.trace != nil {
			list = append(list, knownFormat{f.name, kind.Trace, f.ending, true})
		}
	}
	return list
}

// newFormats lists what error messages point to.
func newFormats() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "formats",
		Short: "The files that Isobath reads and writes",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON {
				return printJSON(cmd.OutOrStdout(), knownFormats())
			}
			_, err := io.WriteString(cmd.OutOrStdout(), formatsText())
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON: what is read in the order in which files are tried, then what is written")
	cmd.Long = formatsText()
	return cmd
}

func formatsText() string {
	list := knownFormats()
	text := "Files are recognised by their content, whatever their names. Isobath reads:\n"
	for _, k := range []kind.Kind{kind.Samples, kind.Refs, kind.Trace, kind.Mesh, kind.Topology} {
		text += ofKind(list, k, false)
	}
	text += "\n\nWhat 'isobath export FILE -o out.ENDING' writes is said by the ending:\n"
	for _, k := range []kind.Kind{kind.Samples, kind.Trace} {
		text += ofKind(list, k, true)
	}
	return text + "\n\nTables in CSV, Parquet or Arrow form need columns with the names that samples\nhave (time, cpu, latency, addr, level, file, line, …), or --map column=NAME.\n'docs/formats.md' describes each format.\n"
}

// ofKind is a paragraph with the formats of one kind of data.
func ofKind(list []knownFormat, k kind.Kind, written bool) string {
	text, separator := "", fmt.Sprintf("\n  %-9s ", k)
	for _, f := range list {
		if f.Kind != k || f.Writes != written {
			continue
		}
		text += separator + f.Name
		if f.Writes {
			text += " (" + f.Ending + ")"
		}
		separator = ", "
	}
	return text
}
