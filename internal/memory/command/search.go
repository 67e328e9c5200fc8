package command

import (
	"context"
	"math"
	"sync"

	"github.com/isobath/isobath/internal/engine/query"
)

// Searcher answers inputs about one data set, with the number of samples of
// each suggestion. It remembers counts and quantiles; several goroutines may
// use it.
type Searcher struct {
	catalogue *Catalogue
	data      query.Data
	engine    query.Engine

	mu        sync.Mutex
	counts    map[countKey]int
	quantiles map[quantileKey]float64
	means     map[string]float64 // by column
	extremes  map[extremeKey]string
}

type extremeKey struct{ of, where string }

type countKey struct{ filter, where string }

type quantileKey struct {
	column string
	p      float64
}

// NewSearcher names what is in the data. resources are as in NewCatalogue.
func NewSearcher(d query.Data, engine query.Engine, resources []string) *Searcher {
	return &Searcher{catalogue: NewCatalogue(d.Table, resources), data: d, engine: engine,
		counts: map[countKey]int{}, quantiles: map[quantileKey]float64{}, means: map[string]float64{}, extremes: map[extremeKey]string{}}
}

// mostCounts bounds the memory of counts; they are cheap to count again.
const mostCounts = 4096

// Search ranks what an input may mean and counts the samples of each.
func (s *Searcher) Search(ctx context.Context, text string, with Context) ([]Suggestion, error) {
	list := s.catalogue.Match(text, with)
	if err := s.Fill(ctx, list, with.Filter); err != nil {
		return list, err
	}
	list = s.catalogue.settle(text, list, with.most())
	return list, s.Fill(ctx, list, with.Filter) // of what was offered besides
}

// Proposal is something worth a look, from an analysis of the data.
type Proposal struct {
	Text, Where string
	Axes        []string
	Score       float64
}

// Propose is the list for an empty input: what is worth a look, then what
// people mostly look for. It counts nothing; see Fill.
func (s *Searcher) Propose(found []Proposal, with Context) []Suggestion {
	most := with.most()
	out := []Suggestion{}
	for _, p := range found {
		if len(out) == most {
			return out
		}
		axes := p.Axes
		if axes == nil {
			axes = []string{}
		}
		out = append(out, Suggestion{Text: p.Text, Action: Select, Where: p.Where, Axes: axes, Score: p.Score, Selects: true, Does: "selects what this is about"})
	}
	for i := range s.catalogue.entries {
		e := &s.catalogue.entries[i]
		if len(out) < most && e.kind == kindPhenomenon && e.missing == "" && e.name != "loads" {
			out = append(out, s.catalogue.suggest(scored{i, 0.3}, &with))
		}
	}
	for i := range out {
		s.recall(&out[i], with.Filter)
	}
	return out
}

// Quick ranks without asking the engine: what is not known yet is left open.
func (s *Searcher) Quick(text string, with Context) []Suggestion {
	list := s.catalogue.Match(text, with)
	for i := range list {
		s.recall(&list[i], with.Filter)
	}
	return s.catalogue.settle(text, list, with.most())
}

// recall fills in what is remembered.
func (s *Searcher) recall(to *Suggestion, filter string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if to.where != nil {
		known := true
		where, err := to.where(&remembered{s, &known})
		if err != nil || !known {
			return
		}
		to.Where, to.where = where, nil
	}
	if n, ok := s.counts[countKey{filter, to.Where}]; ok && to.Selects {
		to.Samples = &n
	}
}

// Fill resolves and counts what is still open; counts are of the samples in the
// filter.
func (s *Searcher) Fill(ctx context.Context, list []Suggestion, filter string) error {
	for i := range list {
		to := &list[i]
		if to.where != nil {
			where, err := to.where(&asked{ctx, s})
			if err != nil {
				return err
			}
			to.Where, to.where = where, nil
		}
		if !to.Selects {
			continue
		}
		n, err := s.count(ctx, countKey{filter, to.Where})
		if err != nil {
			return err
		}
		to.Samples = &n
	}
	return nil
}

func (s *Searcher) count(ctx context.Context, of countKey) (int, error) {
	s.mu.Lock()
	n, ok := s.counts[of]
	s.mu.Unlock()
	if ok {
		return n, nil
	}
	filter, err := query.Parse(of.filter, s.data.Table)
	if err != nil {
		return 0, err
	}
	e, err := query.Parse(of.where, s.data.Table)
	if err != nil {
		return 0, err
	}
	a, err := s.engine.Answer(ctx, &query.Request{Where: query.Both(filter, e)})
	if err != nil {
		return 0, err
	}
	n = a.Counts[query.Selected]
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.counts) >= mostCounts {
		clear(s.counts)
	}
	s.counts[of] = n
	return n, nil
}

// quantile asks for an order statistic; those that go together are asked for in
// one go.
func (s *Searcher) quantile(ctx context.Context, column string, p float64) (float64, error) {
	key := quantileKey{column, p}
	s.mu.Lock()
	v, ok := s.quantiles[key]
	s.mu.Unlock()
	if ok {
		return v, nil
	}
	ps := []float64{p, 1.0 / 3, 2.0 / 3}
	a, err := s.engine.Answer(ctx, &query.Request{Stats: []query.Stat{{Column: column, Quantiles: ps}}})
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if of := a.Stats[0].Quantiles[query.All]; len(of) == len(ps) {
		for i, p := range ps {
			if !math.IsNaN(of[i]) { // of a column without any value
				s.quantiles[quantileKey{column, p}] = of[i]
			}
		}
	}
	return s.quantiles[key], nil
}

// mean asks for the mean of a column.
func (s *Searcher) mean(ctx context.Context, column string) (float64, error) {
	s.mu.Lock()
	v, ok := s.means[column]
	s.mu.Unlock()
	if ok {
		return v, nil
	}
	a, err := s.engine.Answer(ctx, &query.Request{Stats: []query.Stat{{Column: column}}})
	if err != nil {
		return 0, err
	}
	if n := a.Stats[0].Counts[query.All]; n > 0 {
		v = a.Stats[0].Sums[query.All] / float64(n)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.means[column] = v
	return v, nil
}
