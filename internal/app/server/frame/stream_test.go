package frame

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// stuck is a client that reads nothing until it is let go.
type stuck struct {
	*httptest.ResponseRecorder
	writes chan struct{} // one for each write that waits
	letGo  chan struct{}
}

func (s *stuck) Write(p []byte) (int, error) {
	select {
	case s.writes <- struct{}{}:
	default:
	}
	<-s.letGo
	return s.ResponseRecorder.Write(p)
}

func watchRequest() *http.Request {
	r := httptest.NewRequest("POST", "/api/v1/x", nil)
	r.Header.Set("Accept", TypeEvents)
	return r
}

// TestWatchedDoesNotWaitForItsReader: work holds locks that others wait for, so
// it goes on while the client does not read.
func TestWatchedDoesNotWaitForItsReader(t *testing.T) {
	f := &Frame{Log: slog.New(slog.DiscardHandler)}
	w := &stuck{httptest.NewRecorder(), make(chan struct{}, 1), make(chan struct{})}
	worked, answered := make(chan struct{}), make(chan error, 1)
	go func() {
		answered <- f.Watched(w, watchRequest(), func(_ context.Context, told Told) (any, error) {
			told("count", 0, 100)
			<-w.writes // the client is stuck with the first event
			for i := range 100 {
				told("count", i, 100)
			}
			close(worked)
			return "the answer", nil
		})
	}()
	select {
	case <-worked:
	case <-time.After(30 * time.Second):
		t.Fatal("the work waits for a client that does not read")
	}
	close(w.letGo)
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
	if body := w.Body.String(); !strings.HasPrefix(body, "event: progress\n") || !strings.HasSuffix(body, "event: done\ndata: \"the answer\"\n\n") {
		t.Errorf("the events: %s", body)
	}
}

// gone is a client whose connection fails.
type gone struct{ *httptest.ResponseRecorder }

func (gone) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

// TestWatchedEndsForWhoHasGone: an event that cannot be sent ends the work.
func TestWatchedEndsForWhoHasGone(t *testing.T) {
	f := &Frame{Log: slog.New(slog.DiscardHandler)}
	err := f.Watched(gone{httptest.NewRecorder()}, watchRequest(), func(ctx context.Context, told Told) (any, error) {
		told("count", 0, 1)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	if err != nil {
		t.Error(err)
	}
}

// TestWatchedPanic: a fault in the work is the last event.
func TestWatchedPanic(t *testing.T) {
	f := &Frame{Log: slog.New(slog.DiscardHandler)}
	w := httptest.NewRecorder()
	if err := f.Watched(w, watchRequest(), func(context.Context, Told) (any, error) { panic("the third wheel") }); err != nil {
		t.Fatal(err)
	}
	if body := w.Body.String(); !strings.HasPrefix(body, "event: failed\n") || !strings.Contains(body, "the third wheel") {
		t.Errorf("the events: %s", body)
	}
}
