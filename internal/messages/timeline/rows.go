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
}

// RowOrder says how rows are made: "rank", "cluster" with the clusters of Open
// expanded, or "neighbours" of a process.
type RowOrder struct {
	By      string `json:"by" ts:"'rank' | 'cluster' | 'neighbours'"`
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
		rows := make([]Row, len(t.S.Trace.Procs))
		for p := range rows {
			rows[p] = t.row(int32(p))
		}
		slices.SortStableFunc(rows, func(a, b Row) int { return int(a.Rank) - int(b.Rank) })
		return rows, nil
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
	}
	return nil, fmt.Errorf("no order %q: want rank, cluster or neighbours", o.By)
}

func (t *Timeline) row(p int32) Row {
	return Row{Process: p, Rank: t.rankOf(p), Cluster: -1, Members: 1}
}

// MaxClusters is how many groups of processes may be asked for.
const MaxClusters = 64

// clusterRows lists each cluster's medoid, followed by its members where it is
// expanded.
func (t *Timeline) clusterRows(c *logical.Clusters, open []int) []Row {
	var rows []Row
	for i, cluster := range c.List {
		head := Row{cluster.Medoid, t.rankOf(cluster.Medoid), i, len(cluster.Members)}
		if !slices.Contains(open, i) {
			rows = append(rows, head)
			continue
		}
		for _, p := range cluster.Members {
			rows = append(rows, Row{p, t.rankOf(p), i, 1})
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
