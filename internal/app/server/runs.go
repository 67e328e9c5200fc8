package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/app/server/memory"
	"github.com/isobath/isobath/internal/app/server/mesh"
	"github.com/isobath/isobath/internal/base/parallel"
)

// Add shows a run. A run with the same content takes the place of the old one.
func (s *Server) Add(r *frame.Run) {
	s.keepSelections(r)
	s.mu.Lock()
	i := slices.IndexFunc(s.runs, func(o *frame.Run) bool { return o.ID == r.ID })
	var old *frame.Run
	if i >= 0 {
		old, s.runs[i] = s.runs[i], r
		r.Order = old.Order
	} else {
		s.runs = slices.Insert(s.runs, s.placeOf(r), r)
	}
	if len(s.runs) == 1 { // the one that is shown first
		r.Foresee(s.jobs.ctx)
	}
	apart := s.takeApart(r.ID)
	link := s.linkTo
	if link != nil && mesh.OnMesh(r) {
		s.linkTo = nil
	}
	s.mu.Unlock()
	if link != nil && mesh.OnMesh(r) {
		if err := link(r); err != nil {
			s.opt.Log.Warn("no link to viewers", "err", err)
		}
	}
	if old != nil && old != r {
		old.Close()
	}
	closeAll(apart)
	s.foreseePair()
	s.recent.add(r.Path, r.Name)
}

// placeOf is where a new run is listed: before those that were asked for after it.
func (s *Server) placeOf(r *frame.Run) int {
	later := slices.IndexFunc(s.runs, func(o *frame.Run) bool { return r.Order > 0 && o.Order > r.Order })
	if later < 0 {
		return len(s.runs)
	}
	return later
}

// hold returns an open run, which stays open until release is called.
func (s *Server) hold(id string) (run *frame.Run, release func(), err error) {
	if a, b, ok := strings.Cut(id, pairSeparator); ok {
		return s.holdPair(id, a, b)
	}
	s.mu.RLock()
	defer s.mu.RUnlock() // after TryUse, so that it cannot be closed between
	if s.live.names(id) && s.live.shown != nil {
		id = s.live.shown.ID
	}
	for _, runs := range [][]*frame.Run{s.runs, s.retired} {
		i := slices.IndexFunc(runs, func(o *frame.Run) bool { return o.ID == id })
		if i < 0 {
			continue
		}
		if release, ok := runs[i].TryUse(); ok {
			return runs[i], release, nil
		}
	}
	return nil, nil, frame.NotFound("open its file again", "no run %s is open", id)
}

// Link lets mesh viewers connect to the first run that has samples on a mesh,
// which may still be read; say is told where. Empty file means
// link.DefaultFile.
func (s *Server) Link(address, file string, say func(string)) error {
	link := func(r *frame.Run) error { return mesh.Link(s.jobs.ctx, r, address, file, s.opt.Log, say) }
	s.mu.Lock()
	i := slices.IndexFunc(s.runs, mesh.OnMesh)
	if i < 0 {
		s.linkTo = link
		s.mu.Unlock()
		return nil
	}
	run := s.runs[i]
	s.mu.Unlock()
	return link(run)
}

// Describe says in a line what a run holds; empty if it is not open.
func (s *Server) Describe(id string) string {
	run, release, err := s.hold(id)
	if err != nil {
		return ""
	}
	defer release()
	return run.String()
}

func (s *Server) runRoutes() []frame.Route {
	return []frame.Route{
		{Method: "GET", Path: "runs", Access: frame.Viewer, Does: "what is open, and what could be", Answers: frame.Home{}, Handle: s.home},
		{Method: "DELETE", Path: "runs/{id}", Access: frame.Owner, Does: "closes a run", Handle: s.closeRun},
		{Method: "GET", Path: "runs/{id}/columns", Access: frame.Owner, Does: "the columns of the file that a run was made of", Answers: frame.Columns{}, OfRun: s.runColumns},
		{Method: "POST", Path: "runs/{id}/again", Access: frame.Owner, Does: "reads the file of a run again in another way, as a job",
			Takes: frame.Reading{}, Answers: frame.Job{}, Status: http.StatusAccepted, OfRun: s.runAgain},
		{Method: "PUT", Path: "runs/{id}/names", Access: frame.Owner, Does: "keeps other sentences about objects and opens the run again with them",
			Takes: memory.ObjectNames{}, Answers: memory.ObjectNames{}, Handle: s.putNames},
	}
}

func (s *Server) home(w http.ResponseWriter, r *http.Request) error {
	h := frame.Home{
		Version: s.opt.Version, Runs: []frame.RunSummary{}, Jobs: s.jobs.list(), Recent: []frame.Recent{}, Examples: []frame.Example{},
		Record: s.opt.Record, Formats: frame.List(s.opt.Formats), UploadLimit: s.opt.UploadLimit,
		Shared: s.opt.Shared, Address: s.sharedAddress(r),
	}
	if !s.opt.Shared { // the names of other files are nobody else's business
		h.Recent, h.Examples = s.recent.list(), examples()
	}
	s.mu.RLock()
	for _, run := range s.runs {
		summary := run.Summary()
		if run.Live { // a link to the recording stays right
			summary.ID = s.live.id
		}
		h.Runs = append(h.Runs, summary)
	}
	h.Compare = s.toCompare()
	s.mu.RUnlock()
	return s.frame.Answer(w, r, h)
}

// sharedAddress is where others reach a shared server: under the first name it
// was given, at the port that was asked if the name has none. Who came through a
// tunnel knows neither.
func (s *Server) sharedAddress(r *http.Request) string {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !s.opt.Shared || len(s.opt.Hosts) == 0 || !ok {
		return ""
	}
	name := s.opt.Hosts[0]
	if _, _, err := net.SplitHostPort(name); err != nil {
		name = net.JoinHostPort(name, strconv.Itoa(local.Port))
	}
	return "http://" + name + "/"
}

func (s *Server) closeRun(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	found, err := s.forget(id)
	switch {
	case !found:
		return frame.NotFound("", "no run %s is open", id)
	case err != nil:
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// forget closes a run; found is false if it is not open.
func (s *Server) forget(id string) (found bool, err error) {
	s.mu.Lock()
	i := slices.IndexFunc(s.runs, func(o *frame.Run) bool { return o.ID == id })
	if i < 0 {
		s.mu.Unlock()
		return false, nil
	}
	run := s.runs[i]
	s.runs = slices.Delete(s.runs, i, i+1)
	apart := s.takeApart(id)
	s.mu.Unlock()
	return true, errors.Join(closeAll(apart), run.Close())
}

// retirement is how long a run answers after another took its place: pages learn of
// it a moment later, and what they asked before that is no mistake of theirs.
const retirement = 10 * time.Second

// retire takes a run from the list and closes it when pages have had the time to
// leave it, or the server ends.
func (s *Server) retire(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.runs, func(o *frame.Run) bool { return o.ID == id })
	if i < 0 {
		return
	}
	run := s.runs[i]
	s.runs = slices.Delete(s.runs, i, i+1)
	s.retired = append(s.retired, run)
	parallel.Start(s.jobs.ctx, func(ctx context.Context) error {
		select {
		case <-ctx.Done(): // Close has it, or will
			return nil
		case <-time.After(retirement):
		}
		s.mu.Lock()
		i := slices.Index(s.retired, run)
		if i >= 0 {
			s.retired = slices.Delete(s.retired, i, i+1)
		}
		apart := s.takeApart(id)
		s.mu.Unlock()
		if i < 0 {
			return nil
		}
		return errors.Join(closeAll(apart), run.Close())
	})
}
