package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the Makefile through -ldflags.
var version = "devel"

// built is what this program was made of.
type built struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // of the source, where it is known
	Modified bool   `json:"modified,omitempty"` // the source had changes beyond the revision
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

func newVersion() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b := thisProgram()
			if asJSON {
				return printJSON(cmd.OutOrStdout(), b)
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), b)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (b built) String() string { return "isobath version " + b.version() }

// version is what follows the name. Cobra prints both in these words where it
// prints --version; another form of it would need a template, and with it the
// linker keeps every exported method of the program (4.8 MB).
func (b built) version() string {
	revision := ""
	if len(b.Revision) >= 12 {
		revision = " (" + b.Revision[:12] + ")"
	}
	return fmt.Sprintf("%s%s %s %s/%s", b.Version, revision, b.Go, b.OS, b.Arch)
}

func thisProgram() built {
	b := built{Version: version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Revision = s.Value
			case "vcs.modified":
				b.Modified = s.Value == "true"
			}
		}
	}
	return b
}
