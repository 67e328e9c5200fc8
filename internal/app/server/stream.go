package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/isobath/isobath/internal/memory/guide"
)

// eventStream is an answer that is sent piece by piece, as server-sent events.
type eventStream struct {
	w   http.ResponseWriter
	out *http.ResponseController
}

func openStream(w http.ResponseWriter) *eventStream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // proxies would hold events back
	return &eventStream{w, http.NewResponseController(w)}
}

// send writes one event; an error means that the client has gone.
func (e *eventStream) send(event string, message any) error {
	data, err := json.Marshal(message)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(e.w, "event: %s\ndata: %s\n\n", event, data); err != nil {
		return err
	}
	return e.out.Flush()
}

// watched does long work for a request and answers with its result. A client
// that accepts events is told how far the work is, and the result is the last
// event: "done", or "failed" with a Failure. Taking the request back ends the
// work.
func (s *Server) watched(w http.ResponseWriter, r *http.Request, work func(context.Context, guide.Progress) (any, error)) error {
	if r.Header.Get("Accept") != "text/event-stream" {
		answer, err := work(r.Context(), nil)
		if err != nil {
			return wrongAsk(err)
		}
		return s.answerJSON(w, r, http.StatusOK, answer)
	}
	stream := openStream(w)
	var told time.Time
	answer, err := work(r.Context(), func(stage string, done, total int) {
		if time.Since(told) >= eventsEvery {
			told = time.Now()
			// A client that has gone ends the work through the context.
			_ = stream.send("progress", Progress{Stage: stage, Done: int64(done), Total: int64(total)})
		}
	})
	switch {
	case r.Context().Err() != nil:
		return nil
	case err != nil:
		_ = stream.send("failed", failureOf(wrongAsk(err)))
	default:
		_ = stream.send("done", answer)
	}
	return nil
}
