package server

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/base/parallel"
)

// keepJobs is how many finished jobs are remembered.
const keepJobs = 32

// jobs are the imports of a server.
type jobs struct {
	ctx    context.Context
	cancel context.CancelFunc

	mu  sync.Mutex
	all []*job
	n   int
}

// job is one import.
type job struct {
	followed[frame.Job]

	cancel context.CancelFunc
	task   *parallel.Task
	start  time.Time
	path   string
	how    frame.Reading
}

func (j *jobs) init(ctx context.Context) { j.ctx, j.cancel = context.WithCancel(ctx) }

// stop cancels all jobs and waits for them.
func (j *jobs) stop() {
	j.cancel()
	j.wait()
}

func (j *jobs) wait() {
	j.mu.Lock()
	all := slices.Clone(j.all)
	j.mu.Unlock()
	for _, b := range all {
		_ = b.task.Wait() // the job's state has its error
	}
}

// Import starts an import, which shows the run when it is done. done is called
// with its last state.
func (s *Server) Import(path string, done func(frame.Job)) {
	s.begin(dataset.Name(path), path, done)
}

// ImportBy is Import for what is not one file: open gets the name.
func (s *Server) ImportBy(name string, open Opener, done func(frame.Job)) {
	s.start(&job{}, name, func(ctx context.Context, _ string, progress func(frame.Progress)) (*frame.Run, error) {
		return open(ctx, name, progress)
	}, done)
}

// begin starts an import and returns its first state.
func (s *Server) begin(name, path string, done func(frame.Job)) frame.Job {
	return s.start(&job{path: path}, name, s.opt.Open, done)
}

// beginAs is begin for a file that is read in a way of the user's own.
func (s *Server) beginAs(name, path string, how frame.Reading, done func(frame.Job)) frame.Job {
	open := func(ctx context.Context, path string, progress func(frame.Progress)) (*frame.Run, error) {
		return s.opt.Reopen(ctx, path, how, progress)
	}
	return s.start(&job{path: path, how: how}, name, open, done)
}

func (s *Server) start(b *job, name string, open Opener, done func(frame.Job)) frame.Job {
	ctx, cancel := context.WithCancel(s.jobs.ctx)
	b.cancel, b.start = cancel, time.Now()
	s.jobs.mu.Lock()
	s.jobs.n++
	b.state = frame.Job{ID: strconv.Itoa(s.jobs.n), Name: name, State: "running", Warnings: []string{}, Progress: frame.Progress{Stage: "reading"}}
	first, order := b.now(), s.jobs.n
	b.task = parallel.Start(ctx, func(ctx context.Context) error {
		defer cancel()
		run, err := s.run(ctx, b, open)
		if run != nil {
			run.Order = order
		}
		b.finish(ctx, run, err, s.Add)
		if done != nil {
			done(b.now())
		}
		return nil
	})
	s.jobs.all = append(s.jobs.all, b)
	s.jobs.forget()
	s.jobs.mu.Unlock()
	return first
}

// run opens what a job is about.
func (s *Server) run(ctx context.Context, b *job, open Opener) (run *frame.Run, err error) {
	err = parallel.Safely(func() error {
		return budget.Watch(ctx, b.now().Name+" needs", func(ctx context.Context) (err error) {
			run, err = open(ctx, b.path, b.progress)
			return err
		})
	})
	if err == nil && ctx.Err() != nil {
		err = errors.Join(ctx.Err(), run.Close())
	}
	return run, s.frame.Faulted("it read "+b.now().Name, "an import", err)
}

// forget drops the oldest finished jobs.
func (j *jobs) forget() {
	for len(j.all) > keepJobs {
		i := slices.IndexFunc(j.all, func(b *job) bool { return b.now().State != "running" })
		if i < 0 {
			return
		}
		j.all = slices.Delete(j.all, i, i+1)
	}
}

func (j *jobs) find(id string) (*job, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	i := slices.IndexFunc(j.all, func(b *job) bool { return b.now().ID == id })
	if i < 0 {
		return nil, frame.NotFound("", "there is no job %s", id)
	}
	return j.all[i], nil
}

// list returns the jobs under way.
func (j *jobs) list() []frame.Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := []frame.Job{}
	for _, b := range j.all {
		if now := b.now(); now.State == "running" {
			out = append(out, now)
		}
	}
	return out
}

// progress adds rate and time left to what the importer says.
func (b *job) progress(p frame.Progress) {
	if p.Stage == "" {
		p.Stage = "reading"
	}
	if s := time.Since(b.start).Seconds(); s > 0 && p.Done > 0 {
		p.Rate = float64(p.Done) / s
		p.Left = max(0, float64(p.Total-p.Done)/p.Rate)
	}
	b.set(func(j *frame.Job) { j.Progress = p })
}

func (b *job) finish(ctx context.Context, run *frame.Run, err error, show func(*frame.Run)) {
	switch {
	case err == nil:
		show(run)
		b.set(func(j *frame.Job) { j.State, j.Run, j.Warnings = "done", run.ID, frame.List(run.Warnings) })
	case ctx.Err() != nil:
		b.set(func(j *frame.Job) { j.State = "cancelled" })
	default:
		f := frame.FailureOf(err)
		unreadable := parallel.Safely(func() error {
			_, err := dataset.Columns(b.path)
			return err
		})
		b.set(func(j *frame.Job) { j.State, j.Failure, j.Columns = "failed", &f, unreadable == nil })
	}
}

func (s *Server) jobRoutes() []frame.Route {
	return []frame.Route{
		{Method: "POST", Path: "open", Access: frame.Owner, Does: "imports a file of the server's machine, as a job",
			Takes: frame.Open{}, Answers: frame.Job{}, Status: http.StatusAccepted, Handle: s.open},
		{Method: "POST", Path: "upload", Access: frame.Owner, Does: "takes a file, or a folder as a tar archive, and imports it, as a job",
			Query: []string{"name"}, TakesFiles: []string{frame.TypeFile, frame.TypeTar}, Answers: frame.Job{}, Status: http.StatusAccepted, Handle: s.upload},
		{Method: "GET", Path: "jobs/{job}", Access: frame.Viewer, Does: "how far an import is", Answers: frame.Job{}, Handle: s.job},
		{Method: "GET", Path: "jobs/{job}/events", Access: frame.Viewer, Does: "the same as it changes, until the import ends",
			Answers: frame.Job{}, Type: frame.TypeEvents, Handle: s.events},
		{Method: "DELETE", Path: "jobs/{job}", Access: frame.Owner, Does: "ends an import", Handle: s.cancelJob},
		{Method: "GET", Path: "jobs/{job}/columns", Access: frame.Owner, Does: "the columns of a file whose import failed", Answers: frame.Columns{}, Handle: s.jobColumns},
		{Method: "POST", Path: "jobs/{job}/again", Access: frame.Owner, Does: "imports the file again in another way",
			Takes: frame.Reading{}, Answers: frame.Job{}, Status: http.StatusAccepted, Handle: s.jobAgain},
	}
}

func (s *Server) job(w http.ResponseWriter, r *http.Request) error {
	b, err := s.jobs.find(r.PathValue("job"))
	if err != nil {
		return err
	}
	return s.frame.Answer(w, r, b.now())
}

func (s *Server) cancelJob(w http.ResponseWriter, r *http.Request) error {
	b, err := s.jobs.find(r.PathValue("job"))
	if err != nil {
		return err
	}
	b.cancel()
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s *Server) open(w http.ResponseWriter, r *http.Request) error {
	var o frame.Open
	if err := frame.ReadJSON(w, r, &o); err != nil {
		return err
	}
	if strings.HasPrefix(o.Path, examplePrefix) {
		return s.frame.AnswerStatus(w, r, http.StatusAccepted, s.beginExample(o.Path))
	}
	if !filepath.IsAbs(o.Path) {
		return frame.BadRequest("%q is not an absolute path", o.Path)
	}
	return s.frame.AnswerStatus(w, r, http.StatusAccepted, s.begin(dataset.Name(o.Path), o.Path, nil))
}

// events streams the state of a job until it ends.
func (s *Server) events(w http.ResponseWriter, r *http.Request) error {
	b, err := s.jobs.find(r.PathValue("job"))
	if err != nil {
		return err
	}
	return b.stream(w, r, func(now frame.Job) (string, bool) {
		if now.State == "running" {
			return "progress", false
		}
		return now.State, true
	})
}

// pause waits; it reports false if the context ended.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
