// Package server shows runs to browsers and scripts: the HTTP API, the guard
// in front of it, and the page's own files.
package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/isobath/isobath/internal/engine/query"
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
}

// DefaultUploadLimit bounds a file dropped onto the page. Larger ones are
// opened by path, without a copy.
const DefaultUploadLimit = 4 << 30

// Opener imports or opens a file or folder. It reports how far it is through
// progress, which may be called from several goroutines, and stops with
// ctx.Err() soon after the context is cancelled.
type Opener func(ctx context.Context, path string, progress func(Progress)) (*Run, error)

// Reopener is an Opener that is told how to read the file.
type Reopener func(ctx context.Context, path string, how Reading, progress func(Progress)) (*Run, error)

// Server answers requests about the runs that are open in it.
type Server struct {
	opt     Options
	handler http.Handler
	jobs    jobs
	recent  recent
	kept    kept
	uploads uploads

	mu   sync.RWMutex
	runs []*Run // in the order they were opened
	// linkTo is called with the first run that has samples on a mesh; nil: not
	// wanted, or done.
	linkTo func(*Run) error
}

// New makes a server without runs.
func New(opt Options) (*Server, error) {
	if opt.Token == "" {
		return nil, errors.New("server: no token")
	}
	if opt.UploadLimit == 0 {
		opt.UploadLimit = DefaultUploadLimit
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{opt: opt, recent: recent{file: opt.Recent}, kept: kept{folder: opt.Kept}}
	s.jobs.init()
	mux := http.NewServeMux()
	s.routes(mux)
	mux.Handle("/", newAssets(opt.Assets, opt.Index))
	s.handler = s.guard(mux)
	return s, nil
}

// routes lists the API. Each page adds its own routes in a file of its own,
// through handle, and one line here.
func (s *Server) routes(mux *http.ServeMux) {
	s.runRoutes(mux)
	s.askRoutes(mux)
	s.guideRoutes(mux)
	s.traceRoutes(mux)
	s.cyclesRoutes(mux)
	s.meshRoutes(mux)
	s.searchRoutes(mux)
	s.codeRoutes(mux)
	s.againRoutes(mux)
	s.sourceRoutes(mux)
	s.jobRoutes(mux)
	s.linkRoutes(mux)
	mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		s.fail(w, r, &statusError{http.StatusNotFound, Failure{
			Error: fmt.Sprintf("there is no %s %s", r.Method, r.URL.Path),
			Hint:  "docs/formats.md lists the routes of the HTTP API"}})
	})
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Serve answers requests from the listener until ctx is done, then ends imports
// and closes all runs.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	// A request lives as long as the server at most: streams would otherwise
	// hold up the shutdown.
	srv := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ErrorLog:          slog.NewLogLogger(s.opt.Log.Handler(), slog.LevelDebug),
	}
	stopped := make(chan error, 1)
	go func() { stopped <- srv.Serve(l) }()
	var err error
	select {
	case err = <-stopped:
	case <-ctx.Done():
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		if srv.Shutdown(grace) != nil {
			srv.Close()
		}
		<-stopped
	}
	return errors.Join(err, s.Close())
}

// Close ends imports, closes all runs and removes what was uploaded.
func (s *Server) Close() error {
	s.jobs.stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, r := range s.runs {
		errs = append(errs, r.close())
	}
	s.runs = nil
	return errors.Join(append(errs, s.uploads.remove())...)
}

// statusError is an error with the status and body it is answered with.
type statusError struct {
	status int
	Failure
}

func (e *statusError) Error() string { return e.Failure.Error }

func badRequest(format string, args ...any) error {
	return &statusError{http.StatusBadRequest, Failure{Error: fmt.Sprintf(format, args...)}}
}

func notFound(hint, format string, args ...any) error {
	return &statusError{http.StatusNotFound, Failure{Error: fmt.Sprintf(format, args...), Hint: hint}}
}

// handle adds a route of the API below /api/v1/; an error it returns becomes
// the answer.
func (s *Server) handle(mux *http.ServeMux, pattern string, f func(http.ResponseWriter, *http.Request) error) {
	method, path, _ := strings.Cut(pattern, " ")
	mux.HandleFunc(method+" /api/v1/"+path, func(w http.ResponseWriter, r *http.Request) {
		if err := f(w, r); err != nil {
			s.fail(w, r, err)
		}
	})
}

// private refuses a request to a server that is shared.
func (s *Server) private(f func(http.ResponseWriter, *http.Request) error) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		if s.opt.Shared {
			return &statusError{http.StatusForbidden, Failure{
				Error: "this server is shared and shows only the runs it was started with",
				Hint:  "open the file yourself: isobath open FILE"}}
		}
		return f(w, r)
	}
}

// fail answers with an error. Nobody is there to read the answer to a request
// that the client took back.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		s.opt.Log.Debug("request taken back", "path", r.URL.Path, "status", 499)
		return
	}
	status, failure := http.StatusInternalServerError, failureOf(err)
	var known *statusError
	var syntax *query.SyntaxError
	switch {
	case errors.As(err, &known):
		status = known.status
	case errors.As(err, &syntax):
		status = http.StatusBadRequest
	case errors.Is(err, fs.ErrNotExist):
		status = http.StatusNotFound
	case errors.As(err, new(*http.MaxBytesError)):
		status = http.StatusRequestEntityTooLarge
	}
	s.opt.Log.Debug("request failed", "path", r.URL.Path, "status", status, "err", err)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(failure)
}

// failureOf turns an error into what the page shows of it.
func failureOf(err error) Failure {
	var known *statusError
	if errors.As(err, &known) {
		return known.Failure
	}
	f := Failure{Error: err.Error()}
	// Our errors say what happened, and after a semicolon what to do.
	if i := strings.LastIndex(f.Error, "; "); i > 0 {
		f.Error, f.Hint = f.Error[:i], f.Error[i+2:]
	}
	return f
}

// answerJSON writes a message.
func (s *Server) answerJSON(w http.ResponseWriter, r *http.Request, status int, message any) error {
	body, err := json.Marshal(message)
	if err != nil {
		return err
	}
	s.answerBytes(w, r, status, "application/json", body)
	return nil
}

// readJSON reads the body of a request, which is small: selections and lists
// of axes.
func readJSON(w http.ResponseWriter, r *http.Request, message any) error {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 4<<20))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, message); err != nil {
		return badRequest("the body of the request is not what %s takes: %v", r.URL.Path, err)
	}
	return nil
}

// hostname is how others call this machine, for the ssh line.
func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "HOST"
	}
	return name
}
