package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/memory/allocated"
)

// reportAllocations says what each place of the program allocates, and how much
// that is used.
func reportAllocations(cmd *cobra.Command, s *dataset.Set, top int, asJSON bool) error {
	t := s.Run.Table("allocations")
	if t == nil {
		return fmt.Errorf("this run has no allocations: %s", whyNoAllocations(s))
	}
	r, err := allocated.Sites(cmd.Context(), t, s.Table.Rows(), top)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(cmd.OutOrStdout(), r)
	}
	warn(s.Run.Warnings)
	return writeAllocations(cmd.OutOrStdout(), r)
}

func whyNoAllocations(s *dataset.Set) string {
	d := s.Run.Recording
	switch {
	case d == nil:
		return "'isobath record -- PROGRAM' logs them"
	case d.Heap != nil && d.Heap.Absent != "":
		return d.Heap.Absent
	}
	return "its recorder did not keep them; record it again"
}

func writeAllocations(w io.Writer, r *allocated.Allocations) error {
	style := term.StyleFor(w)
	fmt.Fprintf(w, "%s in %s by %s", style.Bold(term.Bytes(r.Bytes)), term.Counted(r.Calls, "call"), term.Counted(r.SiteCount, "place"))
	if r.SmallCalls > 0 {
		about := term.Roughly(true)
		fmt.Fprintf(w, ", and in small ones %s%s in %s%s", about, term.Bytes(r.SmallBytes), about, term.Counted(r.SmallCalls, "call"))
	}
	fmt.Fprintf(w, "; most at once %s", term.Bytes(r.Peak))
	if r.SmallCalls > 0 { // of which nobody knows how long they live
		fmt.Fprint(w, " without the small ones")
	}
	fmt.Fprintf(w, "\n%s of %s in this memory; life is the median\n\n", term.Thousands(r.InAllocations), term.Counted(r.Samples, "sample"))
	right := func(head string) term.Column { return term.Column{Head: head, Align: term.Right} }
	t := term.Table{Columns: []term.Column{right("bytes"), right("calls"), right("peak"), right("life"), right("samples"), {Head: "place", Give: true}}}
	for i := range r.Sites {
		s := &r.Sites[i]
		t.Row(cellOf(s.Bytes, s.SmallBytes, term.Bytes[int64]), cellOf(s.Calls, s.SmallCalls, term.Thousands[int64]), peakOf(s), lifeOf(s),
			term.Thousands(s.Samples), placeOf(s))
	}
	if err := t.Write(w, term.Width); err != nil {
		return err
	}
	if hidden := r.SiteCount - len(r.Sites); hidden > 0 {
		_, err := fmt.Fprintf(w, "%s\n", style.Dim("… "+term.Counted(hidden, "more place")))
		return err
	}
	return nil
}

// cellOf writes what was counted, with what was estimated beside it.
func cellOf(counted, small int64, text func(int64) string) string {
	return term.Roughly(small > 0) + text(counted+small)
}

func peakOf(s *allocated.AllocationSite) string {
	switch {
	case s.Peak == 0:
		return "–" // small ones only: nobody saw their end
	case s.PeakAtLeast:
		return "≥" + term.Bytes(s.Peak)
	}
	return term.Bytes(s.Peak)
}

func lifeOf(s *allocated.AllocationSite) string {
	switch {
	case s.Lifetime != nil:
		return term.Duration(*s.Lifetime)
	case s.Peak == 0:
		return "–"
	}
	return "to the end"
}

// shownCallers is how many functions of a place fit into its row.
const shownCallers = 4

// placeOf writes what a place makes, its line, and the functions that lead to it,
// innermost first, up to the program's own first.
func placeOf(s *allocated.AllocationSite) string {
	var calls []string
	for i := range s.Frames {
		if i == shownCallers {
			calls = append(calls, "…")
			break
		}
		calls = append(calls, cmp.Or(s.Frames[i].Function, "?"))
		if s.Frames[i].Function == "main" {
			break
		}
	}
	words := []string{strings.Join(calls, " < ")}
	if words[0] == "" {
		words[0] = "(not recorded)"
	}
	if s.Allocation != "" {
		words = slices.Insert(words, 0, s.Allocation)
	}
	// Other names are made of the line and the size.
	if len(s.Symbols) > 0 && !strings.HasPrefix(s.Symbols[0], s.Allocation+" ") && !strings.HasPrefix(s.Symbols[0], "allocation ") {
		words = slices.Insert(words, 0, s.Symbols[0])
	}
	return strings.Join(words, "  ")
}
