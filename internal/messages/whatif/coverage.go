package whatif

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/base/term"
)

// Coverage says how much of the time in MPI the answers rest on.
type Coverage struct {
	MPI       int64     `json:"mpi_ns"`
	Analysed  int64     `json:"analysed_ns"`
	Share     float64   `json:"share"`
	Missing   []Missing `json:"missing"`
	Locations int       `json:"locations"`    // of the trace
	Hidden    int       `json:"not_analysed"` // locations without a row: threads, streams, devices
	// Threads have a row besides the first of their rank. What they wait for from
	// each other, such as a join, is in no record.
	Threads int `json:"threads"`
	// Unrecorded are calls of threads that the recorder left out.
	Unrecorded int    `json:"unrecorded_calls"`
	Clocks     Clocks `json:"clocks"`
	Low        bool   `json:"low"` // say it before anything else
	Text       string `json:"text"`
}

// Missing is time in MPI of which is not known what it was spent waiting for.
type Missing struct {
	What  string `json:"what"`
	Calls int    `json:"calls"`
	Time  int64  `json:"time_ns"`
	Why   string `json:"why"`
}

// enoughCoverage is the share of the time in MPI below which the coverage is
// said first.
const enoughCoverage = 0.9

// Coverage looks at every call: whether its waiting is known from records, from
// their order, or because such a call waits for nobody.
func (g *Graph) Coverage(c Clocks) Coverage {
	t := g.Trace
	out := Coverage{Missing: []Missing{}, Locations: t.Locations, Hidden: t.Locations - len(t.Procs), Unrecorded: t.Unrecorded, Clocks: c}
	for p := range t.Procs {
		if int(t.Procs[p].Home) != p {
			out.Threads++
		}
	}
	why := make([]string, len(t.Regions))
	for r := range t.Regions {
		why[r] = unexplained(t.Regions[r].Name)
	}
	at := map[int32]*Missing{}
	for i, r := range t.Calls.Region {
		d := t.NS(g.Exit[i] - g.Enter[i])
		out.MPI += d
		if why[r] == "" || g.First[i] < g.First[i+1] || g.signalled != nil && g.signalled[i] {
			out.Analysed += d
			continue
		}
		m := at[r]
		if m == nil {
			m = &Missing{What: t.Regions[r].Name, Why: why[r]}
			at[r] = m
		}
		m.Calls++
		m.Time += d
	}
	for _, m := range at {
		out.Missing = append(out.Missing, *m)
	}
	slices.SortFunc(out.Missing, func(a, b Missing) int { return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.What, b.What)) })
	out.Share = 1
	if out.MPI > 0 {
		out.Share = float64(out.Analysed) / float64(out.MPI)
	}
	recorded := float64(len(t.Calls.Region)) / float64(max(1, len(t.Calls.Region)+t.Unrecorded))
	out.Low = min(out.Share, recorded) < enoughCoverage || c.Violations > 0
	out.Text = out.text()
	return out
}

// unexplained says why a call without a dependency is not understood, "" if it
// waits for nobody or its partners are recorded.
func unexplained(region string) string {
	name, ok := strings.CutPrefix(strings.ToLower(region), "mpi_")
	if !ok {
		return ""
	}
	name = strings.TrimPrefix(name, "i")
	switch {
	case strings.HasPrefix(name, "neighbor_"):
		return "the neighbours are not recorded, and nobody stands out as the one it waited for"
	case strings.HasPrefix(name, "win_lock"), strings.HasPrefix(name, "win_unlock"), strings.HasPrefix(name, "win_flush"):
		return "who held the lock or answered is not recorded"
	case name == "win_post", name == "win_sync":
		return "" // waits for nobody
	case strings.HasPrefix(name, "win_"):
		return "the group of the epoch is not recorded, and nobody stands out as the one it waited for"
	case strings.HasPrefix(name, "file_"):
		return "whether it waits for other ranks or for the storage is not recorded"
	case strings.HasPrefix(name, "nit"), name == "init", strings.HasPrefix(name, "init_"), name == "finalize", strings.HasPrefix(name, "comm_"), strings.HasPrefix(name, "cart_"),
		strings.HasPrefix(name, "graph_"), strings.HasPrefix(name, "dist_"), strings.HasPrefix(name, "intercomm_"), strings.HasPrefix(name, "ntercomm_"):
		return "its members are not recorded"
	case strings.HasPrefix(name, "fetch_and"), strings.HasPrefix(name, "compare_and"), strings.HasPrefix(name, "get_accumulate"):
		return "what the target did is not recorded"
	}
	return ""
}

func (c *Coverage) text() string {
	parts := []string{fmt.Sprintf("%.1f %% of the time in MPI is analysed", 100*c.Share)}
	for k, m := range c.Missing {
		if k == 3 {
			parts = append(parts, fmt.Sprintf("and %s more", term.Counted(len(c.Missing)-k, "kind")))
			break
		}
		if float64(m.Time) >= 0.001*float64(c.MPI) {
			parts = append(parts, fmt.Sprintf("not %s (%s, %s): %s", m.What, term.Counted(m.Calls, "call"), term.Duration(m.Time), m.Why))
		}
	}
	if c.Hidden > 0 {
		parts = append(parts, fmt.Sprintf("%s of %d (threads, streams, devices) take no part in messages and are not analysed", term.Counted(c.Hidden, "location"), c.Locations))
	}
	if c.Threads > 0 {
		parts = append(parts, fmt.Sprintf("%s besides the first of a rank: what threads of a rank wait for from each other is not recorded, so a delay of one gains nothing by way of another",
			term.Counted(c.Threads, "thread")))
	}
	if c.Unrecorded > 0 {
		parts = append(parts, fmt.Sprintf("%s of other threads are not recorded: a cause may lie there", term.Counted(c.Unrecorded, "call")))
	}
	return strings.Join(append(parts, c.Clocks.text()), "; ")
}
