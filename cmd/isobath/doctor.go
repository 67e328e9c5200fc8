package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/machine/hw"
	"github.com/isobath/isobath/internal/machine/hw/sysfs"
	"github.com/isobath/isobath/internal/record/ability"
	"github.com/isobath/isobath/internal/record/sampler"
)

func newDoctor() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine can record, and what to change for more",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := diagnose()
			if asJSON {
				return printJSON(cmd.OutOrStdout(), d)
			}
			return d.write(cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// diagnosis is what `isobath doctor` prints.
type diagnosis struct {
	System   string            `json:"system"`
	Findings []ability.Finding `json:"findings"`
	Topology *hw.Summary       `json:"topology"`
}

func diagnose() *diagnosis {
	d := &diagnosis{System: runtime.GOOS + "/" + runtime.GOARCH}
	d.Findings = ability.Report(ability.Machine{Files: os.DirFS("/"), Find: exec.LookPath, Root: os.Geteuid() == 0,
		Arch: runtime.GOARCH, Try: sampler.Try})
	if t, err := sysfs.Local(); err == nil {
		s := t.Summary()
		d.Topology = &s
	}
	return d
}

func (d *diagnosis) write(w io.Writer) error {
	style := term.StyleFor(w)
	fmt.Fprintf(w, "%s\n", style.Bold(d.System))
	if d.Topology != nil {
		fmt.Fprintln(w, topologyLine(*d.Topology))
	}
	mark := map[ability.State]string{ability.Works: "yes", ability.Limited: style.Warn("part"), ability.Missing: style.Warn("no ")}
	for _, f := range d.Findings {
		fmt.Fprintf(w, "\n%-4s %s\n     %s\n", mark[f.State], style.Bold(f.Name), f.What)
		if f.Cure != "" {
			fmt.Fprintf(w, "     %s %s\n", style.Dim("for more:"), f.Cure)
		}
	}
	return nil
}
