package server

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/app/server/memory"
	"github.com/isobath/isobath/internal/base/parallel"
	"github.com/isobath/isobath/internal/data/kind"
)

// pairSeparator stands between the ids of two runs that are shown as one.
const pairSeparator = ","

// mostPairs bounds the pairs that are kept: each is a copy of two runs, and can be
// made again.
const mostPairs = 3

// holdPair returns two open runs as one, which stays open until release is called.
func (s *Server) holdPair(id, a, b string) (run *frame.Run, release func(), err error) {
	if strings.Contains(b, pairSeparator) { // a pair of a pair
		return nil, nil, frame.NotFound("a pair is two runs: runs/A,B", "no run %s is open", id)
	}
	s.pairing.Lock() // one at a time: both views of a page ask at once, and joining takes memory
	defer s.pairing.Unlock()
	if run, release := s.heldPair(id); run != nil {
		return run, release, nil
	}
	if a == b {
		return nil, nil, frame.BadRequest("run %s is compared with itself", a)
	}
	runA, releaseA, err := s.hold(a)
	if err != nil {
		return nil, nil, err
	}
	defer releaseA()
	runB, releaseB, err := s.hold(b)
	if err != nil {
		return nil, nil, err
	}
	defer releaseB()
	joined, err := memory.Join(s.jobs.ctx, id, runA, runB)
	if err != nil {
		return nil, nil, err
	}
	release, _ = joined.TryUse() // nobody else knows it
	s.mu.Lock()
	s.pairs = slices.Insert(s.pairs, 0, joined)
	old := slices.Clone(s.pairs[min(len(s.pairs), mostPairs):])
	s.pairs = s.pairs[:min(len(s.pairs), mostPairs)]
	s.mu.Unlock()
	if err := closeAll(old); err != nil {
		s.opt.Log.Warn("a pair of runs was not closed", "err", err)
	}
	return joined, release, nil
}

func (s *Server) heldPair(id string) (*frame.Run, func()) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, p := range s.pairs {
		if p.ID == id {
			if release, ok := p.TryUse(); ok {
				return p, release
			}
		}
	}
	return nil, nil
}

// takeApart forgets the pairs that a run is of; the caller holds mu and closes
// them after.
func (s *Server) takeApart(id string) []*frame.Run {
	of := func(p *frame.Run) bool {
		a, b, _ := strings.Cut(p.ID, pairSeparator)
		return a == id || b == id
	}
	var out []*frame.Run
	for _, p := range s.pairs {
		if of(p) {
			out = append(out, p)
		}
	}
	s.pairs = slices.DeleteFunc(s.pairs, of)
	return out
}

func closeAll(runs []*frame.Run) error {
	var errs []error
	for _, r := range runs {
		errs = append(errs, r.Close())
	}
	return errors.Join(errs...)
}

// CompareFirst shows two runs as one when the page is opened without a link, once
// both are open. Each is named by its id, or by the path it is opened from.
func (s *Server) CompareFirst(a, b string) {
	s.mu.Lock()
	s.compare = [2]string{a, b}
	s.mu.Unlock()
	s.foreseePair()
}

// foreseePair begins to join the runs that are shown as one first, while the
// browser starts: the page asks for nothing else before.
func (s *Server) foreseePair() {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.toCompare()
	a, b, _ := strings.Cut(id, pairSeparator)
	i := slices.IndexFunc(s.runs, func(r *frame.Run) bool { return r.ID == a })
	if id == "" || s.runs[i].Kind != string(kind.Samples) {
		return
	}
	before := s.foreseen
	s.foreseen = parallel.Start(s.jobs.ctx, func(ctx context.Context) error {
		if before != nil {
			<-before.Done() // so that who waits for the last waits for all
		}
		if ctx.Err() != nil {
			return nil
		}
		_, release, err := s.holdPair(id, a, b)
		if err == nil {
			release()
		}
		return nil // who asks for the pair is told why it cannot be
	})
}

// showAlone takes back that a run is shown beside another.
func (s *Server) showAlone(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.compare[:], id) {
		s.compare = [2]string{}
	}
}

// toCompare is the pair that is shown first; empty if there is none. Two records of
// references are one too: their page shows B beside A. The caller holds mu.
func (s *Server) toCompare() string {
	var ids, kinds []string
	for _, name := range s.compare {
		i := slices.IndexFunc(s.runs, func(r *frame.Run) bool { return name != "" && (r.ID == name || r.Path == name) })
		if i < 0 || memory.Of(s.runs[i]) == nil {
			return ""
		}
		ids, kinds = append(ids, s.runs[i].ID), append(kinds, s.runs[i].Kind)
	}
	alike := kinds[0] == kinds[1] && (kinds[0] == string(kind.Samples) || kinds[0] == string(kind.Refs))
	if ids[0] == ids[1] || !alike {
		return ""
	}
	return strings.Join(ids, pairSeparator)
}
