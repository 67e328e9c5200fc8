package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/docs"
	"github.com/isobath/isobath/internal/base/term"
)

func newGuide() *cobra.Command {
	var search string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "guide [CHAPTER]",
		Short: "The book: how to find out why a program is slow",
		Long: `The book that belongs to this version of the program. Without CHAPTER its
contents; CHAPTER may be shortened, or be a column, a metric or the head of a table,
which the glossary explains. --search says where something is written.`,
		Example: `  isobath guide
  isobath guide late-ranks
  isobath guide lateness
  isobath guide --search 'first touch'`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			chapters, err := docs.Chapters()
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			switch {
			case search != "":
				found := docs.Find(chapters, search)
				if asJSON {
					return printJSON(out, map[string]any{"sections": found})
				}
				return writeSections(out, found, search)
			case len(args) == 1:
				c, err := chapterNamed(chapters, args[0])
				if word, ok := docs.Explain(args[0]); ok && err != nil {
					if asJSON {
						return printJSON(out, word)
					}
					_, err = io.WriteString(out, word.Markdown())
					return err
				}
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(out, c)
				}
				_, err = io.WriteString(out, c.Text)
				return err
			case asJSON:
				return printJSON(out, map[string]any{"chapters": chapters})
			}
			return writeContents(out, chapters)
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			chapters, _ := docs.Chapters() // a book that cannot be read completes nothing
			var names []string
			for _, c := range chapters {
				names = append(names, c.Name+"\t"+c.Title)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
	cmd.Flags().StringVar(&search, "search", "", "sections that have all of these `words`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// chapterNamed finds a chapter by its name or the beginning or a part of it.
func chapterNamed(chapters []docs.Chapter, name string) (docs.Chapter, error) {
	var found []docs.Chapter
	for _, c := range chapters {
		if c.Name == name {
			return c, nil
		}
		if strings.Contains(c.Name, strings.ToLower(name)) {
			found = append(found, c)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	if len(found) == 0 {
		return docs.Chapter{}, usagef("the guide has no chapter %q; 'isobath guide' lists them, 'isobath guide --search %s' looks inside", name, name)
	}
	names := make([]string, len(found))
	for i, c := range found {
		names[i] = c.Name
	}
	return docs.Chapter{}, usagef("%q may be any of %s", name, strings.Join(names, ", "))
}

func writeContents(w io.Writer, chapters []docs.Chapter) error {
	t := term.Table{Columns: []term.Column{{Head: "chapter"}, {Head: "title", Give: true}}}
	for _, c := range chapters {
		t.Row(c.Name, c.Title)
	}
	if err := t.Write(w, term.Width); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, "\n'isobath guide CHAPTER' prints one, 'isobath guide --search WORDS' finds where something is written")
	return err
}

func writeSections(w io.Writer, found []docs.Section, words string) error {
	if len(found) == 0 {
		_, err := fmt.Fprintf(w, "no section has all of %q\n", words)
		return err
	}
	t := term.Table{Columns: []term.Column{{Head: "chapter"}, {Head: "section", Give: true}, {Head: "says", Give: true}}}
	for _, s := range found[:min(len(found), 20)] {
		t.Row(s.Chapter, s.Heading, s.Line)
	}
	return t.Write(w, term.Width)
}
