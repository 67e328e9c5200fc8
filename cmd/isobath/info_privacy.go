package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/privacy"
)

// printPrivacy says what whoever gets a run learns besides its samples.
func printPrivacy(ctx context.Context, out io.Writer, imports *importFlags, path string, asJSON bool) error {
	r, err := imports.load(ctx, path)
	if err != nil {
		return err
	}
	defer r.Close()
	p := privacy.Of(r)
	if asJSON {
		return printJSON(out, p)
	}
	line := func(what string, values []string) {
		if len(values) > 0 {
			fmt.Fprintf(out, "%s: %s\n", what, strings.Join(values, ", "))
		}
	}
	if p.Host != "" {
		fmt.Fprintf(out, "host: %s\n", p.Host)
	}
	if len(p.Command) > 0 {
		fmt.Fprintf(out, "command line: %s\n", strings.Join(p.Command, " "))
	}
	for i, c := range p.Trial {
		fmt.Fprintf(out, "command line of side %c of its trial: %s\n", 'a'+i, c)
	}
	if p.Group != "" {
		fmt.Fprintf(out, "control group: %s\n", p.Group)
	}
	line("made from", p.From)
	line("names of machines in the description of the hardware", p.Machines)
	line("environment", p.Environment)
	line("programs and libraries", p.Modules)
	line("source files whose text it holds", p.Sources)
	for _, c := range p.Columns {
		fmt.Fprintf(out, "column %s of %s: %s, such as %s\n", c.Name, c.Table, term.Counted(c.Values, "value"), strings.Join(c.Shown, ", "))
	}
	fmt.Fprintln(out, "'isobath export --anonymise' writes the samples without these; names of functions and objects stay")
	return nil
}
