// Package frame is what every kind of data shares in the server: the open run
// and its parts, the routes with who may call them, how the body of a request is
// read, and how an answer or an error is sent. A kind of data has a package of
// its own beside this one and is known to the server through Kind alone.
package frame

import (
	"context"
	"log/slog"

	"github.com/isobath/isobath/internal/base/parallel"
)

// Kind is a kind of data that runs may hold, with the routes about it.
type Kind interface {
	// Name is what the documentation calls it.
	Name() string
	// Routes lists its part of the API. The frame sends the answers.
	Routes(*Frame) []Route
}

// Part is the data of one kind in one run.
type Part interface {
	// Kind is the name of its Kind.
	Kind() string
	// Rows counts what it is made of: samples, operations, references, cells.
	Rows() int
	// String says in a phrase what it holds.
	String() string
	// Tell adds what the page must know of it before it asks anything.
	Tell(context.Context, *Info) error
	// Close ends what was begun for it. No request uses the run any more.
	Close()
}

// Frame is the server as a kind of data sees it.
type Frame struct {
	// Compress answers over 16 KiB.
	Compress bool
	Log      *slog.Logger
	// Report writes what a user can attach to a report of a fault of ours, and
	// says where; nil: nobody wants it.
	Report func(doing string, p *parallel.Panic) (path string)
	// Hold returns another open run, which stays open until release is called;
	// nil if it is not open or being closed.
	Hold func(id string) (run *Run, release func())
	// Turns are those of answers that pictures wait for, before searches.
	Turns parallel.Turns
}

// Messages is the name of the kind that a RunSummary speaks of.
const Messages = "messages"
