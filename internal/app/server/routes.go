package server

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/app/server/openapi"
	"github.com/isobath/isobath/internal/base/parallel"
)

// prefix is the path of the API's first version.
const prefix = "/api/v1/"

// shared is the name under which the table lists what belongs to no kind of
// data.
const shared = "runs"

// Table lists every route of the API, from which it is registered, guarded,
// documented and described.
func (s *Server) Table() []frame.Route {
	table := slices.Concat(s.runRoutes(), s.frame.RunRoutes(), s.jobRoutes(), s.liveRoutes(), s.linkRoutes(), []frame.Route{
		{Method: "GET", Path: "guide", Access: frame.Viewer, Does: "the glossary; with find, the terms and the sections of the guide that have these words", Command: "isobath guide --search",
			Query: []string{"find"}, Answers: frame.Book{}, Handle: s.findInBook},
		{Method: "GET", Path: "openapi.json", Access: frame.Viewer, Does: "this table for programs, as OpenAPI 3.1", Type: frame.TypeJSON, Handle: s.describe},
	})
	for i := range table {
		table[i].Kind = shared
	}
	for _, k := range kinds {
		for _, r := range k.Routes(&s.frame) {
			r.Kind = k.Name()
			table = append(table, r)
		}
	}
	return table
}

// describe answers with the table itself.
func (s *Server) describe(w http.ResponseWriter, r *http.Request) error {
	document, err := openapi.Describe(s.opt.Version, prefix, TokenHeader, s.Table())
	if err != nil {
		return err
	}
	return s.frame.Answer(w, r, document)
}

// register adds the routes of the table, and for each path an answer to other
// methods.
func (s *Server) register(mux *http.ServeMux) {
	methods := map[string][]string{}
	for _, r := range s.Table() {
		mux.Handle(r.Method+" "+prefix+r.Path, s.answering(r))
		methods[r.Path] = append(methods[r.Path], r.Method)
	}
	for _, path := range slices.Sorted(maps.Keys(methods)) {
		allowed := slices.Sorted(slices.Values(methods[path]))
		mux.HandleFunc(prefix+path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			s.frame.Fail(w, r, frame.Refused(http.StatusMethodNotAllowed, frame.Failure{
				Error: fmt.Sprintf("%s does not take %s", r.URL.Path, r.Method),
				Hint:  "it takes " + strings.Join(allowed, " and ")}))
		})
	}
	mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		s.frame.Fail(w, r, frame.NotFound("docs/api.md lists the routes, and GET "+prefix+"openapi.json describes them",
			"there is no %s %s", r.Method, r.URL.Path))
	})
}

// answering is what a route does for a request: who may not call it is refused,
// an error becomes the answer, and so does a panic.
func (s *Server) answering(route frame.Route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := &begun{ResponseWriter: w}
		err := s.answer(out, r, &route)
		switch {
		case err == nil:
		case errors.Is(err, http.ErrAbortHandler): // a stream that cannot be completed
			panic(http.ErrAbortHandler)
		case out.status != 0 && fault(err): // too late for another answer: the client must see that it is cut
			_ = s.frame.Fault(r, err)
			panic(http.ErrAbortHandler)
		default:
			s.frame.Fail(out, r, err)
		}
	})
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, route *frame.Route) error {
	if route.Access == frame.Owner && s.opt.Shared {
		return frame.Refused(http.StatusForbidden, frame.Failure{
			Error: "this server is shared and shows only the runs it was started with",
			Hint:  "open the file yourself: isobath open FILE"})
	}
	if route.OfRun == nil {
		return parallel.Safely(func() error { return route.Handle(w, r) })
	}
	run, release, err := s.hold(r.PathValue("id"))
	if err != nil {
		return err
	}
	defer release()
	err = parallel.Safely(func() error { return route.OfRun(w, r, run) })
	if fault(err) && run.Changed != nil && run.Changed() {
		return errors.Join(parallel.ErrFileChanged, err) // whatever panicked, it is not our fault
	}
	return err
}

// fault reports a panic, or a file that is gone.
func fault(err error) bool {
	return errors.As(err, new(*parallel.Panic)) || errors.Is(err, parallel.ErrFileChanged)
}

// begun notes whether an answer has begun.
type begun struct {
	http.ResponseWriter
	status int
}

func (b *begun) WriteHeader(status int) {
	b.status = status
	b.ResponseWriter.WriteHeader(status)
}

func (b *begun) Write(p []byte) (int, error) {
	if b.status == 0 {
		b.status = http.StatusOK
	}
	return b.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController find what it controls.
func (b *begun) Unwrap() http.ResponseWriter { return b.ResponseWriter }
