package logical

import (
	"context"

	"github.com/isobath/isobath/internal/messages/trace"
)

// ReportCritical is the critical path in short: from the first event to the
// last. Length is the sum of the rest.
type ReportCritical struct {
	Length    int64         `json:"length"`
	StartUp   int64         `json:"startup"` // before its first process began
	Compute   int64         `json:"compute"`
	Calls     int64         `json:"calls"`
	Processes []ReportShare `json:"processes"`
	Regions   []ReportShare `json:"regions"`
}

// ReportShare is a part of the critical path.
type ReportShare struct {
	Process *int32  `json:"process,omitempty"`
	Region  string  `json:"region,omitempty"`
	Kind    string  `json:"kind,omitempty"` // compute or call
	Time    int64   `json:"time"`
	Share   float64 `json:"share"`
}

// ReportClusters are the groups of processes.
type ReportClusters struct {
	Silhouette float64         `json:"silhouette"`
	List       []ReportCluster `json:"list"`
	// Merges join the groups two at a time, the nearest first: a and b are
	// groups of the list, or from its length on earlier merges.
	Merges []ReportJoin `json:"merges"`
}

// ReportJoin is a node of the dendrogram of the groups; Distance is in ns.
type ReportJoin struct {
	A        int32 `json:"a"`
	B        int32 `json:"b"`
	Distance int64 `json:"distance"`
}

// ReportCluster is one group of processes.
type ReportCluster struct {
	Medoid  int32   `json:"medoid"`
	Size    int     `json:"size"`
	Mean    int64   `json:"mean_lateness"`
	Spread  int64   `json:"spread"`
	Members []int32 `json:"members"`
}

// ReportProfile is the profile of the trace.
type ReportProfile struct {
	Regions []ReportRegion `json:"regions"`
	Matrix  []ReportPair   `json:"matrix"`
	Sizes   []ReportSize   `json:"sizes"`
	Waits   ReportWaits    `json:"waits"`
}

// ReportRegion is the time spent in a region.
type ReportRegion struct {
	Name      string `json:"name"`
	File      string `json:"file,omitempty"`
	Line      uint32 `json:"line,omitempty"`
	Locations int    `json:"locations"`
	Calls     int64  `json:"calls"`
	Inclusive int64  `json:"inclusive"`
	Exclusive int64  `json:"exclusive"`
	Least     int64  `json:"least"`
	Most      int64  `json:"most"`
}

// ReportPair is a cell of the communication matrix.
type ReportPair struct {
	From     int32 `json:"from"`
	To       int32 `json:"to"`
	Messages int64 `json:"messages"`
	Bytes    int64 `json:"bytes"`
}

// ReportSize is a bar of the histogram of message sizes.
type ReportSize struct {
	From     int64 `json:"from"`
	To       int64 `json:"to"`
	Messages int64 `json:"messages"`
	Bytes    int64 `json:"bytes"`
}

// ReportWaits are the waiting times by cause.
type ReportWaits struct {
	LateSender      int64 `json:"late_sender"`
	LateSenderOps   int64 `json:"late_sender_operations"`
	LateReceiver    int64 `json:"late_receiver"`
	LateReceiverOps int64 `json:"late_receiver_operations"`
	Collective      int64 `json:"collective"`
	CollectiveOps   int64 `json:"collective_operations"`
}

// AddClusters adds the groups of processes to the report.
func (r *Report) AddClusters(ctx context.Context, s *Structure, o ClusterOptions) error {
	c, err := s.Cluster(ctx, o)
	if err != nil {
		return err
	}
	r.Clusters = &ReportClusters{Silhouette: c.Silhouette, List: []ReportCluster{}, Merges: []ReportJoin{}}
	for _, j := range c.Joins {
		r.Clusters.Merges = append(r.Clusters.Merges, ReportJoin{j.A, j.B, s.Trace.NS(int64(j.Distance))})
	}
	for _, l := range c.List {
		r.Clusters.List = append(r.Clusters.List, ReportCluster{Medoid: l.Medoid, Size: len(l.Members), Members: l.Members,
			Mean: s.Trace.NS(int64(l.Mean)), Spread: s.Trace.NS(int64(l.Spread))})
	}
	return nil
}

// AddProfile adds the profile of the trace to the report.
func (r *Report) AddProfile(t *trace.Trace) {
	p := t.Profile()
	out := &ReportProfile{Regions: []ReportRegion{}, Matrix: []ReportPair{}, Sizes: []ReportSize{}}
	for _, g := range p.Regions {
		region := t.Regions[g.Region]
		out.Regions = append(out.Regions, ReportRegion{Name: region.Name, File: region.File, Line: region.Line, Locations: g.Locations,
			Calls: g.Calls, Inclusive: t.NS(g.Incl), Exclusive: t.NS(g.Excl), Least: t.NS(g.Least), Most: t.NS(g.Most)})
	}
	for _, c := range p.Pairs {
		out.Matrix = append(out.Matrix, ReportPair(c))
	}
	for _, b := range p.Sizes {
		out.Sizes = append(out.Sizes, ReportSize(b))
	}
	w := p.Waits
	out.Waits = ReportWaits{t.NS(w.LateSender), w.LateSenderOps, t.NS(w.LateReceiver), w.LateReceiverOps, t.NS(w.Collective), w.CollectiveOps}
	r.Profile = out
}
