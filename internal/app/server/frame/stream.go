package frame

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/isobath/isobath/internal/base/parallel"
)

// EventsEvery bounds how often progress is sent.
const EventsEvery = 100 * time.Millisecond

// sendWithin bounds how long one event may wait for a client that does not
// read.
const sendWithin = 10 * time.Second

// Stream is an answer that is sent piece by piece, as server-sent events.
type Stream struct {
	w   http.ResponseWriter
	out *http.ResponseController
}

// OpenStream begins a stream; Close ends it.
func OpenStream(w http.ResponseWriter) *Stream {
	w.Header().Set("Content-Type", TypeEvents)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // proxies would hold events back
	return &Stream{w, http.NewResponseController(w)}
}

// Send writes one event; an error means that the client has gone, or does not
// read what it asked for.
func (e *Stream) Send(event string, message any) error {
	data, err := json.Marshal(message)
	if err != nil {
		return err
	}
	// What is written to memory, as in tests, has no deadline and needs none.
	_ = e.out.SetWriteDeadline(time.Now().Add(sendWithin))
	if _, err := fmt.Fprintf(e.w, "event: %s\ndata: %s\n\n", event, data); err != nil {
		return err
	}
	return e.out.Flush()
}

// Close leaves the connection to the next request without a deadline.
func (e *Stream) Close() { _ = e.out.SetWriteDeadline(time.Time{}) }

// Told is how long work says how far it is; it does not wait for who listens.
type Told = func(stage string, done, total int)

// Watched does long work for a request and answers with its result. A client
// that accepts events is told how far the work is, and the result is the last
// event: "done", or "failed" with a Failure. Taking the request back ends the
// work, and so does not reading the events. Answers that pictures wait for go
// before it.
func (f *Frame) Watched(w http.ResponseWriter, r *http.Request, work func(context.Context, Told) (any, error)) error {
	if r.Header.Get("Accept") != TypeEvents {
		answer, err := work(f.Turns.Behind(r.Context()), nil)
		if err != nil {
			return WrongAsk(err)
		}
		return f.Answer(w, r, answer)
	}
	ctx, cancel := context.WithCancel(f.Turns.Behind(r.Context()))
	defer cancel()
	// The work never waits for the client: it holds locks that others wait for.
	newest := make(chan Progress, 1)
	var end result // when the task has ended
	task := parallel.Start(ctx, func(ctx context.Context) error {
		end = f.guarded(r, func() (any, error) {
			return work(ctx, func(stage string, done, total int) {
				select {
				case <-newest:
				default:
				}
				select {
				case newest <- Progress{Stage: stage, Done: int64(done), Total: int64(total)}:
				default: // another goroutine of the work was faster
				}
			})
		})
		return nil
	})
	stream := OpenStream(w)
	defer stream.Close()
	for {
		select {
		case p := <-newest:
			if stream.Send("progress", p) != nil {
				cancel()
			}
		case <-task.Done():
			// The run is held until here: the work has ended.
			select {
			case p := <-newest:
				_ = stream.Send("progress", p) // what came between says where the time went
			default:
			}
			if r.Context().Err() == nil {
				end.send(stream)
			}
			return nil
		}
		pause := time.NewTimer(EventsEvery)
		select {
		case <-pause.C:
		case <-task.Done():
		}
		pause.Stop()
	}
}

type result struct {
	answer any
	err    error
}

func (e result) send(s *Stream) {
	// Nobody is left to be told that the last event did not arrive.
	if e.err != nil {
		_ = s.Send("failed", FailureOf(WrongAsk(e.err)))
		return
	}
	_ = s.Send("done", e.answer)
}

// guarded is work in a goroutine of its own: what panics there would end the
// program.
func (f *Frame) guarded(r *http.Request, work func() (any, error)) (end result) {
	err := parallel.Safely(func() (err error) {
		end.answer, err = work()
		return err
	})
	end.err = f.Fault(r, err)
	return end
}
