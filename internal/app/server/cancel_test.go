package server

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/app/server/frame"
)

// infoOf is what the page must know about a run.
func infoOf(t *testing.T, run *frame.Run) frame.Info {
	t.Helper()
	info, err := run.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// leaving is the context of a client who goes when their question first looks
// whether they are still there.
type leaving struct {
	context.Context
	cancel context.CancelFunc
	looked atomic.Bool
}

func newLeaving(parent context.Context) *leaving {
	ctx, cancel := context.WithCancel(parent)
	return &leaving{Context: ctx, cancel: cancel}
}

func (l *leaving) leave() {
	l.looked.Store(true)
	l.cancel()
}

func (l *leaving) Done() <-chan struct{} {
	l.leave()
	return l.Context.Done()
}

func (l *leaving) Err() error {
	l.leave()
	return l.Context.Err()
}

// asked are GET routes with a question, other than their bare path.
var asked = map[string]string{
	"runs/{id}/why":      "?where=latency+%3E+1",
	"runs/{id}/source":   "?file=a.c",
	"runs/{id}/matched":  "?file=a.c",
	"runs/{id}/rows.csv": "?where=latency+%3E+1",
}

// scans are the GET routes that look through the data of the run of samples, or
// wait for something to change: a client who goes ends them. The others answer
// from what they have.
var scans = map[string]bool{
	"runs/{id}": true, "runs/{id}/rows.csv": true, "runs/{id}/why": true, "runs/{id}/gaps": true,
	"runs/{id}/mesh/viewers": true, "jobs/{job}/events": true,
}

// TestClientsWhoGo asks every GET route for somebody who goes as soon as the
// route looks: it returns, those that look through data without an answer, and
// nothing goes on after it.
func TestClientsWhoGo(t *testing.T) {
	began := make(chan struct{})
	s := newTestServer(t, func(o *Options) {
		o.Open = func(ctx context.Context, _ string, _ func(frame.Progress)) (*frame.Run, error) {
			close(began)
			<-ctx.Done()
			return nil, ctx.Err()
		}
	})
	runs, err := NewLoader(dataset.Options{}).Demo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.Add(runs[0])
	job := get[frame.Job](t, do(s, "POST", "/api/v1/open", `{"path":"/somewhere"}`), http.StatusAccepted)
	<-began
	address := strings.NewReplacer("{id}", runs[0].ID, "{job}", job.ID, "{link}", "none")
	before := runtime.NumGoroutine()
	for _, route := range s.Table() {
		if route.Method != "GET" {
			continue
		}
		ctx := newLeaving(t.Context())
		w := ask(ctx, s, prefix+address.Replace(route.Path)+asked[route.Path])
		switch {
		case w.Code >= 500:
			t.Errorf("%s: %d %s", route.Path, w.Code, w.Body)
		case scans[route.Path] && !ctx.looked.Load():
			t.Errorf("%s never looks whether its client is still there", route.Path)
		case scans[route.Path] && w.Code == http.StatusOK && w.Body.Len() > 0 && route.Type != frame.TypeEvents:
			t.Errorf("%s has an answer of %d bytes for a client who is gone", route.Path, w.Body.Len())
		}
		ctx.cancel()
	}
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			all := make([]byte, 1<<20)
			t.Fatalf("%d goroutines before, %d after:\n%s", before, runtime.NumGoroutine(), all[:runtime.Stack(all, true)])
		}
	}
	// Who stays gets what the others gave up.
	if info := get[frame.Info](t, do(s, "GET", prefix+"runs/"+runs[0].ID, ""), http.StatusOK); len(info.Columns) == 0 {
		t.Error("a client who went leaves a run without columns")
	}
}

// ask sends a question and returns the answer, also one that was cut.
func ask(ctx context.Context, s http.Handler, path string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", "http://127.0.0.1:7117"+path, nil).WithContext(ctx)
	r.Header.Set(TokenHeader, testToken)
	w := httptest.NewRecorder()
	defer func() {
		if p := recover(); p != nil && p != http.ErrAbortHandler {
			panic(p)
		}
	}()
	s.ServeHTTP(w, r)
	return w
}
