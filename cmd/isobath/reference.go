package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/isobath/isobath/internal/base/wholefile"
)

// newReference makes what packages and the documentation hold about the verbs, from
// the verbs themselves.
func newReference() *cobra.Command {
	var man string
	cmd := &cobra.Command{
		Use:    "reference",
		Short:  "Every verb with its flags, as Markdown or manual pages",
		Hidden: true, // of interest to packagers alone
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if man != "" {
				return writeManual(cmd.Root(), man)
			}
			return writeReference(cmd.OutOrStdout(), cmd.Root())
		},
	}
	cmd.Flags().StringVar(&man, "man", "", "write manual pages into this `folder` instead")
	return cmd
}

// describedVerbs are the verbs that a user sees, in the order of their names.
func describedVerbs(root *cobra.Command) []*cobra.Command {
	var out []*cobra.Command
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() && c.Name() != "completion" {
			out = append(out, c)
		}
	}
	return out
}

// flagForm is a flag as it is typed: "-o, --output file".
func flagForm(f *pflag.Flag) (form, about string) {
	value, about := pflag.UnquoteUsage(f)
	form = "--" + f.Name
	if f.Shorthand != "" {
		form = "-" + f.Shorthand + ", " + form
	}
	if value != "" {
		form += " " + value
	}
	switch f.DefValue {
	case "", "0", "false", "[]", "0s":
	default:
		about += fmt.Sprintf(" (default %s)", f.DefValue)
	}
	return form, about
}

// eachFlag visits the flags of a verb that a user sees.
func eachFlag(c *cobra.Command, visit func(form, about string)) {
	c.InitDefaultHelpFlag()
	c.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" {
			visit(flagForm(f))
		}
	})
}

func writeReference(w io.Writer, root *cobra.Command) error {
	text := &strings.Builder{}
	text.WriteString("# Reference\n\nEvery verb with its flags, made by `isobath reference` from the program itself.\n" +
		"Every verb also takes `--memory`; a FILE may be `demo` or `demo:NAME`, an example that is built in.\n")
	for _, c := range describedVerbs(root) {
		fmt.Fprintf(text, "\n## %s\n\n```\n%s\n```\n\n%s\n", c.Name(), c.UseLine(), strings.TrimSpace(longOf(c)))
		if c.Example != "" {
			fmt.Fprintf(text, "\n```\n%s\n```\n", strings.TrimRight(unindent(c.Example), "\n"))
		}
		head := "\n| flag | what it does |\n|---|---|\n"
		eachFlag(c, func(form, about string) {
			fmt.Fprintf(text, "%s| `%s` | %s |\n", head, form, strings.ReplaceAll(about, "|", `\|`))
			head = ""
		})
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// longOf is what is to be said about a verb.
func longOf(c *cobra.Command) string {
	if c.Long != "" {
		return c.Long
	}
	return c.Short + "."
}

func unindent(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimPrefix(l, "  ")
	}
	return strings.Join(lines, "\n")
}

// writeManual writes isobath.1 and a page for every verb.
func writeManual(root *cobra.Command, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, c := range append([]*cobra.Command{root}, describedVerbs(root)...) {
		name := strings.ReplaceAll(c.CommandPath(), " ", "-")
		if err := wholefile.WriteBytes(filepath.Join(folder, name+".1"), 0, manualPage(root, c, name)); err != nil {
			return err
		}
	}
	return nil
}

// manualPage is a page in the man macros of troff. It has no date: the same
// program makes the same page.
func manualPage(root, c *cobra.Command, name string) []byte {
	text := &strings.Builder{}
	fmt.Fprintf(text, ".TH %s 1 \"\" \"Isobath\" \"Isobath manual\"\n.ad l\n.SH NAME\n%s \\- %s\n.SH SYNOPSIS\n", strings.ToUpper(name), roff(name), roff(c.Short))
	if c == root {
		text.WriteString(".B isobath\n.I VERB\n[flags]\n.I FILE\n…\n.SH VERBS\n")
		for _, v := range describedVerbs(root) {
			fmt.Fprintf(text, ".TP\n.BR isobath-%s (1)\n%s\n", v.Name(), roff(v.Short))
		}
	} else {
		fmt.Fprintf(text, ".nf\n%s\n.fi\n.SH DESCRIPTION\n", roff(c.UseLine()))
		verbatim(text, longOf(c))
	}
	head := ".SH OPTIONS\n"
	eachFlag(c, func(form, about string) {
		fmt.Fprintf(text, "%s.TP\n.B %s\n%s\n", head, roff(form), roff(about))
		head = ""
	})
	if c.Example != "" {
		text.WriteString(".SH EXAMPLES\n")
		verbatim(text, unindent(c.Example))
	}
	if c != root {
		text.WriteString(".SH SEE ALSO\n.BR isobath (1)\n")
	}
	return []byte(text.String())
}

// verbatim writes text whose lines and tables stay as they are.
func verbatim(w io.Writer, text string) {
	fmt.Fprintln(w, ".nf")
	for line := range strings.Lines(strings.TrimSpace(text) + "\n") {
		fmt.Fprintln(w, roff(strings.TrimRight(line, "\n")))
	}
	fmt.Fprintln(w, ".fi")
}

// roff escapes what troff would read as its own.
func roff(text string) string {
	text = strings.ReplaceAll(text, `\`, `\e`)
	text = strings.ReplaceAll(text, "-", `\-`)
	text = strings.ReplaceAll(text, "\n", " ")
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
