package compare

import (
	"context"
	"strings"

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/memory/align"
)

// Costs is what one run costs, as a whole and by groups whose names hold no
// chance.
type Costs struct {
	Unit    string
	Whole   float64
	Samples int
	Mean    *float64 // latency of a sample; nil where there is none
	Groups  []GroupCost
}

// GroupCost is one group of a run.
type GroupCost struct {
	Label string
	Key   map[string]any
	Cost  float64
}

// CostsOf adds up the costs of one run by columns it has.
func CostsOf(ctx context.Context, r *Run, by []string) (*Costs, error) {
	threads, err := threadsOf(ctx, r)
	if err != nil {
		return nil, err
	}
	f := &fitting{threads: map[*table.Table]align.Threads{r.Table: threads}}
	opt := &Options{Questions: []Question{{By: by, Metric: Cost}}}
	one := []Run{*r}
	if err := f.costs(one, one, one, opt); err != nil {
		return nil, err
	}
	got, err := f.observeRun(ctx, r, r, &opt.Questions[0], opt)
	if err != nil {
		return nil, err
	}
	out := &Costs{Unit: f.unit, Whole: got.whole.Sum * got.scale, Samples: got.samples}
	if f.column == samples.Latency && got.valued > 0 {
		mean := got.whole.Sum / float64(got.valued)
		out.Mean = &mean
	}
	for name, g := range got.groups {
		key := strings.Split(name, keySeparator)
		out.Groups = append(out.Groups, GroupCost{label(key), typedKey(r.Table, by, key), g.Sum * got.scale})
	}
	return out, nil
}
