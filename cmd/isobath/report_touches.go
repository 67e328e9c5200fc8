package main

import (
	"cmp"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/memory/firsttouch"
)

// touchReport is what `report --touches` prints.
type touchReport struct {
	Pages   int                  `json:"pages"`
	Objects []firsttouch.Touched `json:"objects"`
}

// reportTouches says who touched the pages of each object first.
func reportTouches(cmd *cobra.Command, s *dataset.Set, top int, asJSON bool) error {
	touches := s.Run.Table("touches")
	if touches == nil {
		return fmt.Errorf("this run has no first touches; 'isobath record' keeps them")
	}
	objects, err := firsttouch.Objects(cmd.Context(), s.Run.Table("samples"), touches)
	if err != nil {
		return err
	}
	r := touchReport{Objects: objects}
	for _, o := range r.Objects {
		r.Pages += o.Pages
	}
	if top > 0 && len(r.Objects) > top {
		r.Objects = r.Objects[:top]
	}
	if asJSON {
		return printJSON(cmd.OutOrStdout(), r)
	}
	return r.write(cmd.OutOrStdout())
}

func (r *touchReport) write(w io.Writer) error {
	fmt.Fprintf(w, "%s touched first; away are samples on another node than their page\n\n", term.Counted(r.Pages, "page"))
	t := term.Table{Columns: []term.Column{{Head: "pages", Align: term.Right}, {Head: "by node"}, {Head: "by thread"}, {Head: "samples", Align: term.Right}, {Head: "away", Align: term.Right}, {Head: "symbol", Give: true}}}
	for _, o := range r.Objects {
		away := "–"
		if o.Known > 0 {
			away = term.Percent(float64(o.Away) / float64(o.Known))
		}
		name := cmp.Or(o.Symbol, "(no name)")
		if o.Pid != nil {
			name += fmt.Sprintf(" in process %d", *o.Pid)
		}
		if o.Host != "" {
			name += " on " + o.Host
		}
		t.Row(term.Thousands(o.Pages), firsttouch.Text(o.Nodes), firsttouch.Text(o.Threads), term.Thousands(o.Samples), away, name)
	}
	return t.Write(w, term.Width)
}
