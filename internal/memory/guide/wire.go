package guide

import (
	"math"

	"github.com/isobath/isobath/internal/engine/query"
)

// The types of this file are the messages of guided analysis: what the verbs
// print with --json and what /api/v1 exchanges. web/src/api/wire is made
// from them too; see internal/app/server/wire.go.

// GuideInfo is what guided analysis can do for a run: metrics that its data
// supports, depths of its topology, and columns that can be an axis.
type GuideInfo struct {
	Metrics []MetricInfo `json:"metrics"`
	Depths  []string     `json:"depths"`
	Axes    []string     `json:"axes"`
	// MinSamples is the number of samples below which windows are not compared.
	MinSamples int `json:"minSamples"`
}

// MetricInfo describes a metric.
type MetricInfo struct {
	Name     string `json:"name"`
	Title    string `json:"title"`
	Unit     string `json:"unit"`
	PerDepth bool   `json:"perDepth"`
}

// AskStrip is the body of POST runs/{id}/metrics. Lo and Hi bound windows of
// equal width; both 0: all values of the column.
type AskStrip struct {
	Filter     string  `json:"filter,omitempty"`
	Where      string  `json:"where,omitempty"`
	Axis       string  `json:"axis"`
	Metric     string  `json:"metric"`
	Depth      string  `json:"depth,omitempty"`
	Windows    int     `json:"windows"`
	EqualCount bool    `json:"equalCount,omitempty"`
	Lo         float64 `json:"lo,omitempty"`
	Hi         float64 `json:"hi,omitempty"`
}

// StripAnswer is a metric over windows of an axis.
type StripAnswer struct {
	Axis    string         `json:"axis"`
	Metric  string         `json:"metric"`
	Depth   string         `json:"depth"` // empty for a metric without
	Unit    string         `json:"unit"`
	Windows []WindowAnswer `json:"windows"`
}

// WindowAnswer is one window; Value is null where no sample has one. Resources is
// how many resources of the depth have samples, and Few marks windows with too
// few samples to be compared.
type WindowAnswer struct {
	From      float64  `json:"from"`
	To        float64  `json:"to"`
	Samples   int      `json:"samples"`
	Value     *float64 `json:"value"`
	Resources int      `json:"resources"`
	Few       bool     `json:"few"`
	Where     string   `json:"where"` // selects the window
}

// AskTree is the body of POST runs/{id}/clusters. The tree is cut into Cut
// clusters, or by Height, or Level merges below the root, where these are given.
type AskTree struct {
	Filter string   `json:"filter,omitempty"`
	Where  string   `json:"where,omitempty"`
	Axis   string   `json:"axis"`
	Metric string   `json:"metric"`
	Depth  string   `json:"depth,omitempty"`
	Window int      `json:"window,omitempty"` // 0: the default
	Slide  int      `json:"slide,omitempty"`  // 0: the default
	Cut    int      `json:"cut,omitempty"`
	Height *float64 `json:"height,omitempty"`
	Level  *int     `json:"level,omitempty"`
	// Top asks for the nodes that the last Top merges joined, in place of all
	// merges: enough to draw the upper part of a tree and to cut it again.
	Top int `json:"top,omitempty"`
}

// TreeAnswer is a merge tree and its clusters. Leaves are numbered from 0 along
// the axis; merge i makes node Leaves+i.
type TreeAnswer struct {
	Axis     string          `json:"axis"`
	Metric   string          `json:"metric"`
	Depth    string          `json:"depth"`
	Unit     string          `json:"unit"`
	Window   int             `json:"window"`
	Slide    int             `json:"slide"`
	Samples  int             `json:"samples"`
	Leaves   int             `json:"leaves"`
	Merges   []MergeAnswer   `json:"merges"`
	Clusters []ClusterAnswer `json:"clusters"`
	Nodes    []NodeAnswer    `json:"nodes,omitempty"` // of the upper part, the root first
}

// NodeAnswer is a node of the upper part of a tree. A and B are the nodes it was
// merged from, -1 below that part; Height is null for leaves and where a part
// has no value.
type NodeAnswer struct {
	ClusterAnswer
	A      int      `json:"a"`
	B      int      `json:"b"`
	Height *float64 `json:"height"`
}

// MergeAnswer joins two neighbouring nodes. Distance is null where one has no
// value; Height is the largest distance in the subtree and never falls.
type MergeAnswer struct {
	A        int      `json:"a"`
	B        int      `json:"b"`
	Distance *float64 `json:"distance"`
	Height   *float64 `json:"height"`
}

// ClusterAnswer is one cluster: From and To are values of the axis, Begin and End
// positions in the sorted samples, End not included.
type ClusterAnswer struct {
	From    float64  `json:"from"`
	To      float64  `json:"to"`
	Samples int      `json:"samples"`
	Value   *float64 `json:"value"`
	Begin   int      `json:"begin"`
	End     int      `json:"end"`
	Node    int      `json:"node"`
	Where   string   `json:"where"`
}

// AskInsights is the body of POST runs/{id}/insights.
type AskInsights struct {
	Filter string `json:"filter,omitempty"`
	Where  string `json:"where,omitempty"`
}

// InsightsAnswer is what is worth a look, best first.
type InsightsAnswer struct {
	Insights []InsightAnswer `json:"insights"`
}

// InsightAnswer is one finding. Stake, with its uncertainty, is what it is about and
// what people are shown; Score, stake × surprise × the weight of its kind, is what
// orders findings. View shows the evidence, set up by Axis, Metric and Depth.
type InsightAnswer struct {
	Kind     string  `json:"kind"`
	Text     string  `json:"text"`
	Score    float64 `json:"score"`
	Where    string  `json:"where"`
	Stake    float64 `json:"stake"`
	Surprise float64 `json:"surprise"`
	Weight   float64 `json:"weight"`
	View     View    `json:"view" ts:"'topology' | 'code' | 'offenders' | 'axis' | 'parallel'"`
	Axis     string  `json:"axis,omitempty"`
	Metric   string  `json:"metric,omitempty"`
	Depth    string  `json:"depth,omitempty"`
	// Uncertainty is one standard deviation of the stake, which is a share of Of;
	// PartOf the kind of the nearest finding above without one, whose story this
	// one is a part of: both are about the same samples. Own is the part of the
	// stake that no finding above has.
	Uncertainty float64 `json:"uncertainty,omitempty"`
	PartOf      string  `json:"partOf,omitempty"`
	Of          string  `json:"of"`
	Own         float64 `json:"own"`
}

// Info says what the data supports.
func (g *Guide) Info() GuideInfo {
	info := GuideInfo{Metrics: []MetricInfo{}, Depths: append([]string{}, g.Depths()...), Axes: append([]string{}, g.Axes()...), MinSamples: MinSamples}
	for _, m := range Metrics {
		if ready, err := g.prepare(m.Name, ""); err == nil {
			info.Metrics = append(info.Metrics, MetricInfo{m.Name, m.Title, ready.unit, m.PerDepth})
		}
	}
	return info
}

// Options puts a request into the guide's terms.
func (a *AskStrip) Options(where query.Expr) StripOptions {
	return StripOptions{
		Axis: a.Axis, Metric: a.Metric, Depth: a.Depth, Where: where,
		Windows: a.Windows, EqualCount: a.EqualCount, Lo: a.Lo, Hi: a.Hi,
	}
}

// Options puts a request into the guide's terms.
func (a *AskTree) Options(where query.Expr) TreeOptions {
	return TreeOptions{Axis: a.Axis, Metric: a.Metric, Depth: a.Depth, Where: where, Window: a.Window, Slide: a.Slide}
}

// DefaultCut is the number of clusters where nothing is asked.
const DefaultCut = 4

// Cut cuts a tree as asked.
func (a *AskTree) cut(t *Tree) []Cluster {
	switch {
	case a.Height != nil:
		return t.CutHeight(*a.Height)
	case a.Level != nil:
		return t.CutDepth(*a.Level)
	case a.Cut > 0:
		return t.CutCount(a.Cut)
	}
	return t.CutCount(DefaultCut)
}

// Answer makes the message of a strip.
func (s *Strip) Answer() StripAnswer {
	out := StripAnswer{Axis: s.Axis, Metric: s.Metric, Depth: s.Depth, Unit: s.Unit, Windows: []WindowAnswer{}}
	for i := range s.Windows {
		w := &s.Windows[i]
		out.Windows = append(out.Windows, WindowAnswer{w.From, w.To, w.Samples, known(w.Value, w.Known), w.Resources, w.Few(), w.Expr(s.Axis).String()})
	}
	return out
}

// Answer makes the message of a tree, cut as asked.
func (t *Tree) Answer(a *AskTree) TreeAnswer {
	out := TreeAnswer{
		Axis: t.Axis, Metric: t.Metric, Depth: t.Depth, Unit: t.Unit, Window: t.Window, Slide: t.Slide,
		Samples: t.Samples, Leaves: t.Leaves, Merges: []MergeAnswer{}, Clusters: []ClusterAnswer{},
	}
	for _, m := range t.Merges[:t.listed(a)] {
		out.Merges = append(out.Merges, MergeAnswer{m.A, m.B, known(m.Distance, !math.IsInf(m.Distance, 0)), known(m.Height, !math.IsInf(m.Height, 0))})
	}
	for _, c := range a.cut(t) {
		out.Clusters = append(out.Clusters, t.answer(&c))
	}
	if a.Top > 0 {
		out.Nodes = t.upper(a.Top)
	}
	return out
}

// listed is how many merges are written out.
func (t *Tree) listed(a *AskTree) int {
	if a.Top > 0 {
		return 0
	}
	return len(t.Merges)
}

func (t *Tree) answer(c *Cluster) ClusterAnswer {
	return ClusterAnswer{c.From, c.To, c.Samples, known(c.Value, c.Known), c.Begin, c.End, c.Node, c.Expr(t.Axis).String()}
}

// upper is the root and what the last merges joined, by falling number: a node
// comes before its parts.
func (t *Tree) upper(merges int) []NodeAnswer {
	first := max(len(t.Nodes)-merges, t.Leaves) // the lowest node whose parts are told
	wanted := map[int]bool{len(t.Nodes) - 1: true}
	var out []NodeAnswer
	for id := len(t.Nodes) - 1; id >= 0 && len(wanted) > 0; id-- {
		if !wanted[id] {
			continue
		}
		delete(wanted, id)
		c := t.cluster(id)
		n := NodeAnswer{ClusterAnswer: t.answer(&c), A: -1, B: -1}
		if id >= t.Leaves {
			m := t.Merges[id-t.Leaves]
			n.Height = known(m.Height, !math.IsInf(m.Height, 0))
			if id >= first {
				n.A, n.B = m.A, m.B
				wanted[m.A], wanted[m.B] = true, true
			}
		}
		out = append(out, n)
	}
	return out
}

// known is a value, or nil for the null of JSON.
func known(v float64, ok bool) *float64 {
	if !ok {
		return nil
	}
	return &v
}

// AnswerInsights makes the message of insights.
func AnswerInsights(found []Insight) InsightsAnswer {
	out := InsightsAnswer{Insights: []InsightAnswer{}}
	for _, in := range found {
		out.Insights = append(out.Insights, InsightAnswer{in.Kind, in.Text, in.Score, in.Where, in.Stake, in.Surprise, in.Weight, in.View, in.Axis, in.Metric, in.Depth, in.Uncertainty, in.PartOf, in.Of, in.Own})
	}
	return out
}
