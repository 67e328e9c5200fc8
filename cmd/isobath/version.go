package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Set through -ldflags: the version by the Makefile, the others by releases, which
// are built without what Go finds out about the repository, so that the state of a
// folder does not get into them.
var version, revision, date = "devel", "", ""

// unknown is said of what neither the linker nor Go was told.
const unknown = "unknown"

// built is what this program was made of.
type built struct {
	Version  string `json:"version"`
	Revision string `json:"revision"`           // of the source, or unknown
	Date     string `json:"date"`               // of the revision, not of the build, or unknown: two builds are equal
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
	of := ""
	if len(b.Revision) >= 12 {
		of = " (" + b.Revision[:12] + ")"
	}
	return fmt.Sprintf("%s%s %s %s/%s", b.Version, of, b.Go, b.OS, b.Arch)
}

func thisProgram() built {
	info, _ := debug.ReadBuildInfo()
	return builtFrom(info)
}

// builtFrom joins what the linker was told with what Go found out; info may be nil.
func builtFrom(info *debug.BuildInfo) built {
	b := built{Version: version, Revision: revision, Date: date, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if info != nil {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Revision = cmp.Or(b.Revision, s.Value)
			case "vcs.time":
				b.Date = cmp.Or(b.Date, s.Value)
			case "vcs.modified":
				b.Modified = s.Value == "true"
			}
		}
	}
	b.Revision, b.Date = cmp.Or(b.Revision, unknown), cmp.Or(b.Date, unknown)
	return b
}
