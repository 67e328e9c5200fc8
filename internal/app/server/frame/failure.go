package frame

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"

	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/base/parallel"
	"github.com/isobath/isobath/internal/engine/clickhouse"
	"github.com/isobath/isobath/internal/engine/query"
)

// statusError is an error with the status and body it is answered with.
type statusError struct {
	Status int
	Failure
}

func (e *statusError) Error() string { return e.Failure.Error }

func refuse(status int, format string, args ...any) error {
	return &statusError{status, Failure{Error: fmt.Sprintf(format, args...)}}
}

// Refused is an error that is answered with that status and body.
func Refused(status int, f Failure) error { return &statusError{status, f} }

// BadRequest is a mistake in what was asked.
func BadRequest(format string, args ...any) error {
	return refuse(http.StatusBadRequest, format, args...)
}

// NotFound is about a thing that is not there.
func NotFound(hint, format string, args ...any) error {
	return &statusError{http.StatusNotFound, Failure{Error: fmt.Sprintf(format, args...), Hint: hint}}
}

// WrongAsk makes an error of an analysis the client's mistake, unless the client
// has gone or the error has a status already.
func WrongAsk(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if errors.As(err, new(*parallel.Panic)) || errors.Is(err, parallel.ErrFileChanged) {
		return err
	}
	if errors.As(err, new(*statusError)) || StatusOf(err) != http.StatusInternalServerError {
		return err
	}
	f := FailureOf(err)
	return &statusError{http.StatusBadRequest, f}
}

// StatusOf is the status an error is answered with.
func StatusOf(err error) int {
	var known *statusError
	switch {
	case errors.As(err, &known):
		return known.Status
	case errors.As(err, new(*query.SyntaxError)):
		return http.StatusBadRequest
	case errors.As(err, new(*query.AskError)), errors.As(err, new(*budget.Exceeded)):
		return http.StatusUnprocessableEntity
	case clickhouse.Unavailable(err):
		return http.StatusServiceUnavailable
	case errors.Is(err, fs.ErrNotExist):
		return http.StatusNotFound
	case errors.Is(err, os.ErrDeadlineExceeded):
		return http.StatusRequestTimeout
	case errors.As(err, new(*http.MaxBytesError)):
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusInternalServerError
}

// FailureOf turns an error into what the page shows of it.
func FailureOf(err error) Failure {
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

// Fault makes a sentence of a fault of ours or of the machine, and logs and
// reports it; other errors stay as they are.
func (f *Frame) Fault(r *http.Request, err error) error {
	return f.Faulted(fmt.Sprintf("it answered %s %s", r.Method, r.URL.Path), r.Pattern, err)
}

// Faulted is Fault for what is not a request: doing says what the program did,
// and in a report, which holds nothing of the data, it is called pattern.
func (f *Frame) Faulted(doing, pattern string, err error) error {
	if errors.Is(err, parallel.ErrFileChanged) {
		f.Log.Error("a file changed", "while", doing, "err", err)
		return &statusError{http.StatusConflict, Failure{
			Error: "the file of this run changed while it was shown: what was there is gone", Hint: "close the run and open it again"}}
	}
	var p *parallel.Panic
	if !errors.As(err, &p) {
		return err
	}
	f.Log.Error("a panic", "while", doing, "fault", fmt.Sprint(p.Value), "stack", string(p.Stack))
	hint := "this is a fault of the program; its log has the details"
	if f.Report != nil {
		if path := f.Report(pattern, p); path != "" {
			hint = "this is a fault of the program; attach " + path + " to a report of it, which holds nothing of your data"
		}
	}
	return &statusError{http.StatusInternalServerError, Failure{
		Error: fmt.Sprintf("isobath failed while %s: %v", doing, p.Value), Hint: hint}}
}

// Fail answers with an error. Nobody is there to read the answer to a request
// that the client took back.
func (f *Frame) Fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		f.Log.Debug("request taken back", "path", r.URL.Path, "status", 499)
		return
	}
	err = f.Fault(r, err)
	status := StatusOf(err)
	level := f.Log.Debug
	if status == http.StatusInternalServerError {
		level = f.Log.Error // it is ours
	}
	level("request failed", "path", r.URL.Path, "status", status, "err", err)
	w.Header().Set("Content-Type", TypeJSON)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(FailureOf(err))
}

// maxBody bounds the body of a request that is JSON.
const maxBody = 4 << 20

// ReadJSON reads the body of a request, which is small: selections and lists
// of axes.
func ReadJSON(w http.ResponseWriter, r *http.Request, message any) error {
	body, err := io.ReadAll(Patient(w, http.MaxBytesReader(w, r.Body, maxBody)))
	if errors.As(err, new(*http.MaxBytesError)) {
		return refuse(http.StatusRequestEntityTooLarge, "the body of the request has more than the %d MiB that %s takes", maxBody>>20, r.URL.Path)
	}
	if err != nil {
		return BadRequest("the body of the request could not be read: %v", err)
	}
	if err := json.Unmarshal(body, message); err != nil {
		return BadRequest("the body of the request is not what %s takes: %v", r.URL.Path, err)
	}
	return nil
}
