// Package compare puts two data sets of memory samples side by side: which
// lines, objects or levels take a larger part of one than of the other, and
// whether the difference is more than the luck of sampling.
//
// Two recordings seldom hold the same number of samples, so groups are compared
// by their share of the whole. A share is an estimate; its error follows from
// the samples themselves (see sigma).
package compare

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

// sureErrors is how many standard errors make a change more than chance. Tables of
// hundreds of groups are read from the top, so the usual two would be too few.
const sureErrors = 3

// Side is one of the two data sets, or what a selection leaves of it. Latency
// and Mean are nil where no sample has one.
type Side struct {
	Samples    int      `json:"samples"`
	Of         int      `json:"of"`
	Latency    *float64 `json:"latency"`
	Mean       *float64 `json:"mean"`
	Unit       string   `json:"unit,omitempty"`
	Provenance string   `json:"provenance"`

	squares float64
}

// Cell is one group in one data set.
type Cell struct {
	Samples int      `json:"samples"`
	Latency *float64 `json:"latency"`
	Mean    *float64 `json:"mean"`
	Share   float64  `json:"share"`

	sum, squares float64 // of what shares count
}

// Group is the same key in both. Change is the share in B less that in A.
type Group struct {
	Key    []string `json:"-"`
	A      Cell     `json:"a"`
	B      Cell     `json:"b"`
	Change float64  `json:"change"`
	// Error is the standard error of Change.
	Error float64 `json:"error"`
}

// Sure says whether the change is more than chance.
func (g *Group) Sure() bool { return g.Error > 0 && math.Abs(g.Change) > sureErrors*g.Error }

// Comparison is the two sides and their groups, largest change first.
type Comparison struct {
	A, B Side
	By   []string
	// Counts is "latency" or "samples": what the shares are shares of.
	Counts string
	Groups []Group
}

// Input is one data set and what of it to compare.
type Input struct {
	Table  *table.Table
	Engine query.Engine
	Where  query.Expr
}

// Runs compares two data sets by columns that both have. Shares are of latency
// if both measured it in one unit, otherwise of samples.
func Runs(ctx context.Context, a, b Input, by []string) (*Comparison, error) {
	sum := ""
	if la, lb := samples.UsableLatency(a.Table), samples.UsableLatency(b.Table); la != nil && lb != nil && la.Unit == lb.Unit && la.Provenance == lb.Provenance {
		sum = samples.Latency
	}
	c := &Comparison{By: by, Counts: cmp.Or(sum, "samples")}
	rowsA, err := ask(ctx, a, by, sum, &c.A)
	if err != nil {
		return nil, err
	}
	rowsB, err := ask(ctx, b, by, sum, &c.B)
	if err != nil {
		return nil, err
	}
	c.join(rowsA, rowsB)
	return c, nil
}

// ask returns the groups of one side and fills in what is known of the whole.
func ask(ctx context.Context, in Input, by []string, sum string, side *Side) ([]query.GroupRow, error) {
	request := &query.Request{Where: in.Where, Groups: []query.Group{{By: by, Sum: sum, Order: query.ByKey}}}
	l := samples.UsableLatency(in.Table)
	if l != nil {
		request.Stats = []query.Stat{{Column: samples.Latency}}
	}
	answer, err := in.Engine.Answer(ctx, request)
	if err != nil {
		return nil, err
	}
	*side = Side{Samples: answer.Counts[query.Selected], Of: answer.Counts[query.All], Provenance: table.Absent.String()}
	if l != nil {
		side.Unit, side.Provenance = l.Unit, l.Provenance.String()
		s := &answer.Stats[0]
		side.Latency, side.Mean = total(s.Sums[query.Selected], s.Counts[query.Selected])
		side.squares = s.Squares[query.Selected]
	}
	return answer.Groups[0].Rows, nil
}

// total returns a sum and its mean, or nothing where nothing was summed.
func total(sum float64, n int) (s, mean *float64) {
	if n == 0 {
		return nil, nil
	}
	m := sum / float64(n)
	return &sum, &m
}

func (c *Comparison) join(a, b []query.GroupRow) {
	at := map[string]int{}
	group := func(keys []string) *Group {
		name := strings.Join(keys, "\x00")
		i, ok := at[name]
		if !ok {
			i = len(c.Groups)
			at[name] = i
			c.Groups = append(c.Groups, Group{Key: keys})
		}
		return &c.Groups[i]
	}
	for _, row := range a {
		group(row.Keys).A = c.cell(&row)
	}
	for _, row := range b {
		group(row.Keys).B = c.cell(&row)
	}
	wholeA, wholeB := c.whole(&c.A), c.whole(&c.B)
	c.Groups = slices.DeleteFunc(c.Groups, func(g Group) bool { return g.A.Samples == 0 && g.B.Samples == 0 })
	for i := range c.Groups {
		g := &c.Groups[i]
		g.A.Share, g.B.Share = share(&g.A, &wholeA), share(&g.B, &wholeB)
		g.Change = g.B.Share - g.A.Share
		g.Error = math.Hypot(sigma(&g.A, &wholeA), sigma(&g.B, &wholeB))
	}
	slices.SortFunc(c.Groups, func(x, y Group) int {
		return cmp.Or(cmp.Compare(math.Abs(y.Change), math.Abs(x.Change)), slices.Compare(x.Key, y.Key))
	})
}

func (c *Comparison) cell(row *query.GroupRow) Cell {
	n := row.Counts[query.Selected]
	cell := Cell{Samples: n, sum: float64(n), squares: float64(n)}
	if c.Counts == "latency" {
		cell.sum, cell.squares = row.Sums[query.Selected], row.Squares[query.Selected]
		cell.Latency, cell.Mean = total(cell.sum, row.Valued[query.Selected])
	}
	return cell
}

// whole is a side as a cell.
func (c *Comparison) whole(s *Side) Cell {
	if c.Counts == "latency" {
		sum := 0.0
		if s.Latency != nil {
			sum = *s.Latency
		}
		return Cell{sum: sum, squares: s.squares}
	}
	return Cell{sum: float64(s.Samples), squares: float64(s.Samples)}
}

func share(g, whole *Cell) float64 {
	if whole.sum == 0 {
		return 0
	}
	return g.sum / whole.sum
}

// sigma is the standard error of a share p = S(g)/S. Samples arrive as a Poisson
// process, so a sum of weights w has the variance Σw², and p, being a ratio of a
// sum to itself and the independent rest, has
//
//	((1-p)² Σ_g w² + p² Σ_rest w²) / S²
//
// With w = 1 this is the p(1-p)/n of a count.
func sigma(g, whole *Cell) float64 {
	if whole.sum == 0 {
		return 0
	}
	p := g.sum / whole.sum
	rest := max(0, whole.squares-g.squares)
	return math.Sqrt((1-p)*(1-p)*g.squares+p*p*rest) / whole.sum
}
