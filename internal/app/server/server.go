// Package server shows runs to browsers and scripts: the HTTP API, the guard
// in front of it, and the page's own files.
package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/base/crash"
	"github.com/isobath/isobath/internal/base/parallel"
	"github.com/isobath/isobath/internal/base/term"
)

// Options say what a server shows and to whom.
type Options struct {
	Version string
	// Token is the secret every API request must carry.
	Token string
	// Hosts are names of this server besides the loopback ones.
	Hosts []string
	// Assets is the page, Index the name of its start page in it.
	Assets fs.FS
	Index  string
	// Compress answers over 16 KiB: worth it when the browser is at the other
	// end of a tunnel, which looks like loopback from here.
	Compress bool
	// Shared refuses whatever reads files other than those of the runs that
	// were opened: who has the token of a team's server shall not have the
	// files of whoever started it. An upload is refused too, because a file may
	// name any other as its source.
	Shared bool
	// Open imports or opens what lies at path.
	Open Opener
	// Reopen opens what lies at path in another way; nil: that cannot be done.
	Reopen Reopener
	// Formats are the names of what Open understands.
	Formats []string
	// Record is the command that records on this machine.
	Record string
	// UploadLimit bounds a dropped file; 0 means DefaultUploadLimit.
	UploadLimit int64
	// Recent is the file that remembers what was opened; empty: none.
	Recent string
	// Kept is the folder for what no run has room for; empty: it is forgotten
	// when the server stops.
	Kept string
	Log  *slog.Logger
	// Budget is the memory that imports and answers draw on; nil: the process's.
	Budget *budget.Budget
	// Faults is the folder for reports of faults of the program; empty: none are
	// written.
	Faults string
}

// DefaultUploadLimit bounds a file dropped onto the page. Larger ones are
// opened by path, without a copy.
const DefaultUploadLimit = 4 << 30

// Opener imports or opens a file or folder. It reports how far it is through
// progress, which may be called from several goroutines, and stops with
// ctx.Err() soon after the context is cancelled.
type Opener func(ctx context.Context, path string, progress func(frame.Progress)) (*frame.Run, error)

// Reopener is an Opener that is told how to read the file.
type Reopener func(ctx context.Context, path string, how frame.Reading, progress func(frame.Progress)) (*frame.Run, error)

// Server answers requests about the runs that are open in it.
type Server struct {
	opt     Options
	frame   frame.Frame
	handler http.Handler
	jobs    jobs
	recent  recent
	kept    keptSelections
	uploads uploads
	idle    idleWatch
	silence silence

	mu   sync.RWMutex
	runs []*frame.Run // in the order they were opened
	// retired are runs that others took the place of, listed nowhere and open a
	// little longer; see retire.
	retired []*frame.Run
	// pairs are two runs shown as one, newest first; pairing is held while one is
	// made. compare names the runs of the one that the page begins with, which
	// foreseen joins before it is asked for.
	pairs    []*frame.Run
	pairing  sync.Mutex
	compare  [2]string
	foreseen *parallel.Task // nil: nothing was to be joined yet
	// live is the recording that is shown while it goes on; nil if there is none.
	live *Live
	// linkTo is called with the first run that has samples on a mesh; nil: not
	// wanted, or done.
	linkTo func(*frame.Run) error
}

// New makes a server without runs.
func New(opt Options) (*Server, error) {
	if opt.Token == "" {
		return nil, errors.New("server: no token")
	}
	if opt.UploadLimit == 0 {
		opt.UploadLimit = DefaultUploadLimit
	}
	if opt.Budget == nil {
		opt.Budget = budget.Of(context.Background())
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{opt: opt, silence: silence{10 * time.Second, 2 * time.Minute}, recent: recent{file: opt.Recent}, kept: keptSelections{folder: opt.Kept}}
	s.idle.drop = opt.Budget.DropUnused
	s.frame = frame.Frame{Compress: opt.Compress, Log: opt.Log, Hold: func(id string) (*frame.Run, func()) {
		run, release, _ := s.hold(id) // nil says that it is not open
		return run, release
	}}
	if opt.Faults != "" {
		s.frame.Report = s.report
	}
	s.jobs.init(budget.With(context.Background(), opt.Budget))
	mux := http.NewServeMux()
	s.register(mux)
	mux.HandleFunc("GET "+bookPath+"{chapter...}", s.book)
	mux.Handle("/", newAssets(opt.Assets, opt.Index))
	s.handler = s.guard(mux)
	return s, nil
}

// report writes a report of a fault; one that cannot be written is none.
func (s *Server) report(doing string, p *parallel.Panic) string {
	doing = fmt.Sprintf("%s, with %s of the memory budget of %s in use", doing, term.Bytes(s.opt.Budget.Used()), term.Bytes(s.opt.Budget.Limit()))
	path, err := crash.Write(s.opt.Faults, s.opt.Version, doing, p)
	if err != nil {
		s.opt.Log.Error("no report of the fault", "err", err)
	}
	return path
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.idle.ask()
	s.handler.ServeHTTP(w, r.WithContext(budget.With(r.Context(), s.opt.Budget)))
}

// Serve answers requests from the listener until ctx is done, then ends imports
// and closes all runs.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	// A request lives as long as the server at most: streams would otherwise
	// hold up the shutdown.
	srv := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: s.silence.head,
		IdleTimeout:       s.silence.idle,
		MaxHeaderBytes:    64 << 10,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ErrorLog:          slog.NewLogLogger(s.opt.Log.Handler(), slog.LevelDebug),
	}
	watch, unwatch := context.WithCancel(ctx)
	resting := parallel.Start(watch, s.idle.watch)
	serving := parallel.Start(ctx, func(context.Context) error { return srv.Serve(limited(l, maxConnections)) })
	var err error
	select {
	case <-serving.Done():
		err = serving.Wait()
	case <-ctx.Done():
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		if srv.Shutdown(grace) != nil {
			srv.Close()
		}
		<-serving.Done()
	}
	unwatch()
	return errors.Join(err, resting.Wait(), s.Close())
}

// Close ends imports, closes all runs and removes what was uploaded.
func (s *Server) Close() error {
	s.jobs.stop()
	s.mu.Lock()
	foreseen := s.foreseen
	s.mu.Unlock()
	if foreseen != nil {
		<-foreseen.Done()
	}
	// Requests under way may ask for other runs while they are waited for, so
	// the lock is not held.
	s.mu.Lock()
	runs := slices.Concat(s.pairs, s.runs, s.retired)
	s.runs, s.pairs, s.retired = nil, nil, nil
	s.mu.Unlock()
	return errors.Join(closeAll(runs), s.uploads.remove())
}

// hostname is how others call this machine, for the ssh line.
func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "HOST"
	}
	return name
}
