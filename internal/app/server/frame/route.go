package frame

import (
	"net/http"
	"strings"
)

// Access is who may call a route.
type Access string

// On a server that is shared whoever has the token is a viewer: they see the
// runs it was started with, and change nothing that others see. On one's own
// server everybody with the token is its owner.
const (
	Viewer Access = "viewer"
	Owner  Access = "owner"
)

// What an answer is made of.
const (
	TypeJSON    = "application/json"
	TypeColumns = "application/vnd.isobath" // a JSON header and binary columns
	TypeEvents  = "text/event-stream"
	TypeCSV     = "text/csv"
	TypeTar     = "application/x-tar"
	TypeFile    = "application/octet-stream"
)

// Route is one line of the API's table, from which it is registered, guarded,
// documented and described to programs.
type Route struct {
	Method string
	// Path is below /api/v1/; {id} is an open run.
	Path   string
	Access Access
	// Does says what it is for, in a phrase that the documentation shows.
	Does string
	// Command answers the same question in a terminal: "isobath insights"; empty
	// for what only a page needs.
	Command string
	// Query are the parameters of the address.
	Query []string
	// Takes and Answers are values of the Go types that travel as JSON, nil for
	// none. With TypeColumns, Answers is the header; with TypeEvents, the last event.
	Takes, Answers any
	// TakesFiles are the types of content of a body that is not JSON.
	TakesFiles []string
	Type       string // of a successful answer; empty: JSON, or nothing
	// Watchable routes send their progress as events to who accepts them.
	Watchable bool
	Status    int // of success; 0: 200, or 204 without an answer

	// One of these is set. The run of OfRun stays open until it returns.
	Handle func(http.ResponseWriter, *http.Request) error
	OfRun  func(http.ResponseWriter, *http.Request, *Run) error

	// Kind is the name of the Kind that has the route; the server fills it in.
	Kind string
}

// Success is the status of a successful answer.
func (r *Route) Success() int {
	switch {
	case r.Status != 0:
		return r.Status
	case r.Answers == nil && r.Type == "":
		return http.StatusNoContent
	}
	return http.StatusOK
}

// Content is the type of a successful answer, empty if there is none.
func (r *Route) Content() string {
	if r.Type == "" && r.Answers != nil {
		return TypeJSON
	}
	return r.Type
}

// Parameters are the names in braces of the path.
func (r *Route) Parameters() []string {
	var out []string
	for part := range strings.SplitSeq(r.Path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			out = append(out, strings.TrimSuffix(name, "}"))
		}
	}
	return out
}
