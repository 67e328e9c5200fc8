package timeline

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/messages/logical"
)

// Row is a line of the picture: one process, or the most typical one of a
// cluster that stands for its members.
type Row struct {
	Process int32 `json:"process"` // index, not rank
	Rank    int32 `json:"rank"`
	// Cluster is -1 outside the order by cluster. Members counts the processes
	// a collapsed cluster's row stands for; 1 for a process of its own.
	Cluster int `json:"cluster"`
	Members int `json:"members"`
	// Group is what the row has in common with its neighbours in an order by
	// groups: the name of a host or of a communicator.
	Group string `json:"group"`
	// Thread is 0 for a process; for one of its threads, streams or devices that
	// take no part in messages, the number of it among all of them, from 1 on.
	Thread int `json:"thread"`
	// Name is that of the thread, also of one that takes part in messages besides
	// the first of its rank.
	Name string `json:"name"`

	members []int32 // of a collapsed cluster; nil for the process alone
}

// RowOrder says how rows are made: "rank", "cluster" with the clusters of Open
// expanded, "neighbours" of a process, ranks grouped by "host" or by
// "communicator" (the first one that does not hold everybody), or "thread":
// ranks, each followed by its threads and streams.
type RowOrder struct {
	By      string `json:"by" ts:"'rank' | 'cluster' | 'neighbours' | 'host' | 'communicator' | 'thread'"`
	Open    []int  `json:"open"`    // expanded clusters
	Process int32  `json:"process"` // whose neighbours
	K       int    `json:"k"`       // clusters; 0: as many as the data says
}

func (o RowOrder) key() string {
	open := make([]string, len(o.Open))
	for i, c := range o.Open {
		open[i] = strconv.Itoa(c)
	}
	return fmt.Sprintf("%s %s %d %d", o.By, strings.Join(open, ","), o.Process, o.K)
}

// maxOrders bounds the remembered lists of rows.
const maxOrders = 64

// Rows returns the rows of an order.
func (t *Timeline) Rows(ctx context.Context, o RowOrder) ([]Row, error) {
	if t.rowsOf != nil {
		return t.rowsOf.Rows(ctx, o)
	}
	key := o.key()
	t.mu.Lock()
	rows, ok := t.rows[key]
	t.mu.Unlock()
	if ok {
		return rows, nil
	}
	rows, err := t.makeRows(ctx, o)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.rows) >= maxOrders {
		clear(t.rows)
	}
	t.rows[key] = rows
	return rows, nil
}

func (t *Timeline) makeRows(ctx context.Context, o RowOrder) ([]Row, error) {
	switch o.By {
	case "rank", "":
		return t.grouped(func(int32) (int, string) { return 0, "" }), nil
	case "cluster":
		if o.K < 0 || o.K > MaxClusters {
			return nil, fmt.Errorf("%d clusters: want at most %d, or 0 for as many as the data says", o.K, MaxClusters)
		}
		c, err := t.S.Cluster(ctx, logical.ClusterOptions{Part: logical.None, K: o.K})
		if err != nil {
			return nil, err
		}
		return t.clusterRows(c, o.Open), nil
	case "neighbours":
		if o.Process < 0 || int(o.Process) >= len(t.S.Trace.Procs) {
			return nil, fmt.Errorf("no process %d: there are %d", o.Process, len(t.S.Trace.Procs))
		}
		return t.neighbours(o.Process), nil
	case "host":
		return t.grouped(func(p int32) (int, string) { return 0, t.S.Trace.Procs[p].Host }), nil
	case "communicator":
		return t.grouped(t.communicators()), nil
	case "thread":
		return t.threaded(), nil
	}
	return nil, fmt.Errorf("no order %q: want rank, cluster, neighbours, host, communicator or thread", o.By)
}

// grouped lists all processes by a group's number and name, and by rank inside
// it.
func (t *Timeline) grouped(of func(p int32) (number int, name string)) []Row {
	rows := make([]Row, len(t.S.Trace.Procs))
	number := make([]int, len(rows))
	for p := range rows {
		rows[p] = t.row(int32(p))
		number[p], rows[p].Group = of(int32(p))
	}
	slices.SortStableFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(number[a.Process], number[b.Process]), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Rank, b.Rank))
	})
	return rows
}

// threaded lists each process followed by its threads.
func (t *Timeline) threaded() []Row {
	of := map[int32][]Row{}
	for k, th := range t.S.Trace.Threads {
		of[th.Process] = append(of[th.Process], Row{Process: th.Process, Rank: t.rankOf(th.Process), Cluster: -1, Members: 1, Thread: k + 1, Name: th.Name})
	}
	var rows []Row
	for _, r := range t.grouped(func(int32) (int, string) { return 0, "" }) {
		rows = append(append(rows, r), of[r.Process]...)
	}
	return rows
}

// communicators gives each process the first communicator that holds it, others
// too, and not everybody.
func (t *Timeline) communicators() func(p int32) (int, string) {
	trace := t.S.Trace
	all := 0
	for i := range trace.Comms {
		all = max(all, len(trace.Comms[i].Ranks))
	}
	of := make([]int, len(trace.Procs))
	for p := range of {
		of[p] = len(trace.Comms)
	}
	for i, c := range trace.Comms {
		if c.Self || len(c.Ranks) < 2 || len(c.Ranks) == all {
			continue
		}
		for _, p := range c.Ranks {
			if p >= 0 && int(p) < len(of) {
				of[p] = min(of[p], i)
			}
		}
	}
	return func(p int32) (int, string) {
		i := of[trace.Procs[p].Home]
		switch {
		case i == len(trace.Comms):
			return i, "in no smaller communicator"
		case trace.Comms[i].Name == "":
			return i, fmt.Sprintf("communicator %d", trace.Comms[i].ID)
		}
		return i, trace.Comms[i].Name
	}
}

func (t *Timeline) row(p int32) Row {
	r := Row{Process: p, Rank: t.rankOf(p), Cluster: -1, Members: 1}
	if at := &t.S.Trace.Procs[p]; at.Home != p {
		r.Name = at.Thread
	}
	return r
}

// MaxClusters is how many groups of processes may be asked for.
const MaxClusters = 64

// clusterRows lists each cluster's medoid, followed by its members where it is
// expanded.
func (t *Timeline) clusterRows(c *logical.Clusters, open []int) []Row {
	var rows []Row
	for i, cluster := range c.List {
		// One cluster alone tells nothing apart: it is open.
		if !slices.Contains(open, i) && len(c.List) > 1 {
			rows = append(rows, Row{Process: cluster.Medoid, Rank: t.rankOf(cluster.Medoid), Cluster: i, Members: len(cluster.Members), members: cluster.Members})
			continue
		}
		for _, p := range cluster.Members {
			rows = append(rows, Row{Process: p, Rank: t.rankOf(p), Cluster: i, Members: 1})
		}
	}
	return rows
}

// neighbours lists a process and those it exchanges messages with.
func (t *Timeline) neighbours(p int32) []Row {
	s := t.S
	set := map[int32]bool{p: true}
	for op := s.Start[p]; op < s.Start[p+1]; op++ {
		s.Senders(op, func(u int32) { set[s.Proc[u]] = true })
		s.Receivers(op, func(v int32) { set[s.Proc[v]] = true })
	}
	rows := make([]Row, 0, len(set))
	for q := range set {
		rows = append(rows, t.row(q))
	}
	// Threads of a rank have the same number: without a second key their order
	// would be that of the map, another one each time.
	slices.SortFunc(rows, func(a, b Row) int { return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Process, b.Process)) })
	return rows
}
