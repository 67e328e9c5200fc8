package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/app/server/memory"
	"github.com/isobath/isobath/internal/app/server/mesh"
	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/data/run"
)

// Live is a recording that is shown while it goes on. Each moment that is shown
// takes the place of the one before, whose memory is given back. A moment has an id
// of its own, so that no answer about one is taken for one about another; all of
// them name the newest one, and in the end the run that was written.
type Live struct {
	followed[frame.Live]

	s       *Server
	id      string // before liveSeparator in the ids of moments
	stop    func()
	moments int // of Show, which is called by one

	shown *frame.Run // guarded by the server's mu; nil: nothing yet
}

// liveSeparator stands between the id of a recording and the number of a moment.
const liveSeparator = "."

// BeginLive makes room for a recording; stop ends it. A server has one at most.
func (s *Server) BeginLive(name string, stop func()) *Live {
	h := sha256.New()
	fmt.Fprintln(h, name, time.Now().UnixNano())
	l := &Live{s: s, id: frame.Identity(name, h), stop: sync.OnceFunc(stop)}
	l.state = frame.Live{State: frame.LiveRecording, Name: name}
	s.mu.Lock()
	s.live = l
	s.mu.Unlock()
	return l
}

// Show shows the recording as it is now.
func (l *Live) Show(ctx context.Context, now *run.Run) error {
	set, err := dataset.FromRun(budget.With(ctx, l.s.opt.Budget), now)
	if err != nil {
		return errors.Join(err, now.Close())
	}
	l.moments++
	id := fmt.Sprint(l.id, liveSeparator, l.moments)
	r := memory.OpenAs(id, l.now().Name, set)
	r.Live = true
	l.s.mu.RLock()
	before := l.shown // closed by nobody but us
	l.s.mu.RUnlock()
	if before != nil {
		r.InheritSources(before)
		r.Selections = before.NamedSelections()
		if err := mesh.Inherit(ctx, r, before); err != nil {
			r.Warnings = append(r.Warnings, err.Error())
		}
	}
	err = l.replace(r)
	// Samples came while the moment was made: what is shown was recorded.
	l.set(func(f *frame.Live) {
		f.Run, f.Shown = id, int64(r.Summary().Rows)
		f.Samples = max(f.Samples, f.Shown)
	})
	return err
}

// replace puts a run in the place of the moment that was shown, which is closed when
// no request uses it any more.
func (l *Live) replace(r *frame.Run) error {
	s := l.s
	s.mu.Lock()
	before := l.shown
	l.shown = r
	var apart []*frame.Run
	if before != nil {
		s.runs = slices.DeleteFunc(s.runs, func(o *frame.Run) bool { return o == before })
		apart = s.takeApart(before.ID)
	}
	if !slices.Contains(s.runs, r) {
		s.runs = append(s.runs, r)
	}
	s.mu.Unlock()
	if before == nil {
		return nil
	}
	return errors.Join(closeAll(apart), before.Close())
}

// Tell says how far the recording is.
func (l *Live) Tell(samples int, elapsed time.Duration) {
	l.set(func(f *frame.Live) { f.Samples, f.Seconds = int64(samples), elapsed.Seconds() })
}

// Held reports that who looks wants what is shown to stay as it is.
func (l *Live) Held() bool { return l.now().Paused }

// End shows the run that was written in place of its moments. It returns when that
// is open.
func (l *Live) End(ctx context.Context, path string) error {
	l.set(func(f *frame.Live) { f.State = frame.LiveWriting })
	ends := make(chan frame.Job, 1)
	l.s.Import(path, func(j frame.Job) { ends <- j })
	var end frame.Job
	select {
	case end = <-ends:
	case <-ctx.Done():
		return ctx.Err()
	}
	if end.State != "done" {
		failure := frame.Failure{Error: "the run that was written could not be opened"}
		if end.Failure != nil {
			failure = *end.Failure
		}
		l.fail(failure)
		return errors.New(failure.Error)
	}
	whole, release, err := l.s.hold(end.Run)
	if err != nil {
		return err
	}
	defer release()
	l.s.mu.RLock()
	before := l.shown
	l.s.mu.RUnlock()
	if before != nil {
		whole.InheritSources(before)
		if named := before.NamedSelections(); len(named) > 0 {
			err = whole.KeepSelections(named)
		}
	}
	err = errors.Join(err, l.replace(whole))
	l.set(func(f *frame.Live) {
		f.State, f.Run, f.Samples, f.Shown = frame.LiveDone, end.Run, int64(whole.Summary().Rows), int64(whole.Summary().Rows)
	})
	return err
}

// Fail says why there will be no run.
func (l *Live) Fail(err error) { l.fail(frame.FailureOf(err)) }

func (l *Live) fail(f frame.Failure) {
	l.set(func(s *frame.Live) { s.State, s.Failure = frame.LiveFailed, &f })
}

// names reports whether an id is that of the recording or of one of its moments.
func (l *Live) names(id string) bool {
	if l == nil {
		return false
	}
	rest, ok := strings.CutPrefix(id, l.id)
	return ok && (rest == "" || strings.HasPrefix(rest, liveSeparator))
}

func (s *Server) liveRoutes() []frame.Route {
	return []frame.Route{
		{Method: "GET", Path: "live", Access: frame.Viewer, Does: "how far the recording is that is shown while it goes on", Answers: frame.Live{}, Handle: s.getLive},
		{Method: "POST", Path: "live", Access: frame.Owner, Does: "holds what is shown of the recording, lets it go on, or ends the recording; the program goes on",
			Takes: frame.LiveWish{}, Answers: frame.Live{}, Handle: s.postLive},
		{Method: "GET", Path: "live/events", Access: frame.Viewer, Does: "the same as it changes, until the run is written",
			Answers: frame.Live{}, Type: frame.TypeEvents, Handle: s.liveEvents},
	}
}

func (s *Server) recording() (*Live, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.live == nil {
		return nil, frame.NotFound("isobath record --live -- PROGRAM shows one", "nothing is being recorded here")
	}
	return s.live, nil
}

func (s *Server) getLive(w http.ResponseWriter, r *http.Request) error {
	l, err := s.recording()
	if err != nil {
		return err
	}
	return s.frame.Answer(w, r, l.now())
}

func (s *Server) postLive(w http.ResponseWriter, r *http.Request) error {
	var wish frame.LiveWish
	if err := frame.ReadJSON(w, r, &wish); err != nil {
		return err
	}
	l, err := s.recording()
	if err != nil {
		return err
	}
	switch wish.Do {
	case frame.LivePause, frame.LiveResume:
		l.set(func(f *frame.Live) { f.Paused = wish.Do == frame.LivePause })
	case frame.LiveStop:
		l.set(func(f *frame.Live) { f.Paused = false }) // who stops wants to see all of it
		l.stop()
	default:
		return frame.BadRequest("%q: want %s, %s or %s", wish.Do, frame.LivePause, frame.LiveResume, frame.LiveStop)
	}
	return s.frame.Answer(w, r, l.now())
}

// liveEvents streams the state of the recording until its run is there.
func (s *Server) liveEvents(w http.ResponseWriter, r *http.Request) error {
	l, err := s.recording()
	if err != nil {
		return err
	}
	return l.stream(w, r, func(now frame.Live) (string, bool) {
		return now.State, now.State == frame.LiveDone || now.State == frame.LiveFailed
	})
}
