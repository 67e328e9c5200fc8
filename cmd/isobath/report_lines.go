package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/memory/cacheline"
)

// lineReport is what `isobath report --by cacheline --json` prints: a report
// whose groups are lines.
type lineReport struct {
	Where      string      `json:"where"`
	By         []string    `json:"by"`
	Samples    int         `json:"samples"`
	Of         int         `json:"of"`
	Latency    *float64    `json:"latency"`
	Unit       string      `json:"unit,omitempty"`
	Provenance string      `json:"provenance"`
	Groups     []lineGroup `json:"groups"` // in place of those of the lines
	*cacheline.CacheLines
}

type lineGroup struct {
	Key     map[string]any `json:"key"`
	Samples int            `json:"samples"`
	Latency *float64       `json:"latency"`
	Mean    *float64       `json:"mean"`
	Share   float64        `json:"share"`
	cacheline.CacheLine
}

// reportLines prints the cache lines of a selection, most contended first.
func reportLines(cmd *cobra.Command, s *dataset.Set, where string, top int, asJSON bool) error {
	rows, e, err := selected(cmd.Context(), s, where)
	if err != nil {
		return err
	}
	if top == 0 {
		top = 20
	}
	found, err := cacheline.Find(cmd.Context(), s.Table, rows, top)
	if err != nil {
		return err
	}
	if found == nil {
		return usagef("--by cacheline: the samples have no addresses")
	}
	r := &lineReport{By: []string{"cacheline"}, Samples: s.Table.Rows(), Of: s.Table.Rows(), Provenance: table.Absent.String(),
		CacheLines: found, Groups: []lineGroup{}}
	if e != nil {
		r.Where, r.Samples = e.String(), rows.Count()
	}
	r.add(samples.UsableLatency(s.Table), rows, found)
	if asJSON {
		return printJSON(cmd.OutOrStdout(), r)
	}
	warn(s.Run.Warnings)
	return r.write(cmd.OutOrStdout())
}

func (r *lineReport) add(latency *table.Column, rows table.Bits, found *cacheline.CacheLines) {
	if latency != nil {
		r.Unit, r.Provenance = latency.Unit, latency.Provenance.String()
		sum, n := 0.0, 0
		for i := range latency.Len() {
			if (rows == nil || rows.Get(i)) && latency.Has(i) {
				sum, n = sum+latency.Float(i), n+1
			}
		}
		if n > 0 {
			r.Latency = &sum
		}
	}
	for _, l := range found.Lines {
		g := lineGroup{Key: map[string]any{"cacheline": l.Addr}, Samples: l.Samples, CacheLine: l, Share: float64(l.Samples) / float64(max(r.Samples, 1))}
		if l.Valued > 0 {
			sum, mean := l.Latency, l.Latency/float64(l.Valued)
			g.Latency, g.Mean = &sum, &mean
			if r.Latency != nil && *r.Latency != 0 {
				g.Share = sum / *r.Latency
			}
		}
		r.Groups = append(r.Groups, g)
	}
}

// write prints a table of lines and, below each shared one, its offsets.
func (r *lineReport) write(w io.Writer) error {
	kind := "virtual"
	if r.Physical {
		kind = "physical"
	}
	lines := term.Thousands(r.Count) + " lines"
	if r.Count == 1 {
		lines = "1 line"
	}
	fmt.Fprintf(w, "%s of %s with an address, %s of %d bytes (%s), %s used by several threads\n", term.Thousands(r.Addressed), term.Counted(r.Samples, "sample"),
		lines, r.LineBytes, kind, term.Thousands(r.Shared))
	switch {
	case !r.HasOp:
		fmt.Fprintln(w, "the samples do not tell loads from stores: who writes is not known")
	case !r.HasSnoop:
		fmt.Fprintln(w, "no snoops recorded: ranked by the samples of all threads but the busiest, not by HITM")
	}
	if r.Where != "" {
		fmt.Fprintf(w, "where %s\n", r.Where)
	}
	fmt.Fprintln(w)
	t := term.Table{Columns: []term.Column{{Head: "line"}, {Head: "HITM", Align: term.Right}, {Head: "contended", Align: term.Right}, {Head: "loads", Align: term.Right},
		{Head: "stores", Align: term.Right}, {Head: "threads", Align: term.Right}, {Head: "sharing"}, {Head: "object", Give: true}}}
	for _, g := range r.Groups {
		t.Row(g.Addr, hitmCell(r.HasSnoop, g.HITM), term.Thousands(g.Contended), term.Thousands(g.Loads), term.Thousands(g.Stores), term.Thousands(threads(g.CacheLine)), string(g.Sharing), strings.Join(g.Symbols, ", "))
		if g.Sharing != cacheline.True && g.Sharing != cacheline.False {
			continue
		}
		for _, o := range g.Offsets {
			name := strings.Trim(o.Symbol+"."+o.Field, ".")
			t.Row(fmt.Sprintf("  +%d", o.Offset), hitmCell(r.HasSnoop, o.HITM), "", term.Thousands(o.Loads), term.Thousands(o.Stores), term.Thousands(len(o.Threads)), "", strings.TrimSpace(name+" "+strings.Join(o.Places[:min(len(o.Places), 2)], ", ")))
		}
	}
	if err := t.Write(w, term.Width); err != nil {
		return err
	}
	if hidden := r.Count - len(r.Groups); hidden > 0 {
		_, err := fmt.Fprintf(w, "… %s\n", term.Counted(hidden, "more line"))
		return err
	}
	return nil
}

func hitmCell(known bool, n int) string {
	if !known {
		return "–"
	}
	return term.Thousands(n)
}

// threads counts the threads that use a line.
func threads(l cacheline.CacheLine) int {
	seen := map[int64]bool{}
	for _, o := range l.Offsets {
		for _, t := range o.Threads {
			seen[t] = true
		}
	}
	return len(seen)
}
