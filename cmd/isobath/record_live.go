package main

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"path/filepath"
	"sync"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/app/server"
	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/base/parallel"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/record"
)

// liveFlags are the flags of recordings that are shown while they go on.
type liveFlags struct {
	on        bool
	noBrowser bool
	port      int
	portGiven func() bool
}

func (f *liveFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.on, "live", false, "open the page at once and show what is recorded while the program runs")
	flags.BoolVar(&f.noBrowser, "no-browser", false, "with --live: only print the address of the page")
	flags.IntVar(&f.port, "port", 0, "with --live: `port` of the page on loopback; 0 takes any free one (default 7117, then the next free)")
	f.portGiven = func() bool { return flags.Changed("port") }
}

// check refuses flags that would do nothing.
func (f *liveFlags) check() error {
	if !f.on && (f.noBrowser || f.portGiven()) {
		return usagef("--no-browser and --port belong to --live; give that too")
	}
	return nil
}

func (f *liveFlags) address() (server.Address, error) {
	switch {
	case !f.portGiven():
		return server.Address{}, nil
	case f.port == 0:
		return server.Address{Port: server.FreePort}, nil
	case f.port < 0 || f.port > 65535:
		return server.Address{}, usagef("--port %d: want 0 to 65535", f.port)
	}
	return server.Address{Port: f.port}, nil
}

// liveRows is how many samples are shown of a recording that goes on: making 50,000
// to 75,000 of them ready took half a second of a processor at most. liveRowBytes is what one
// takes, with all that is kept to answer questions about it; two moments are open
// while one takes the place of the other, and they get a quarter of --memory.
const (
	liveRows     = 50_000
	liveRowBytes = 1 << 10
)

// livePage is the page of a recording; nil for one that nobody looks at.
type livePage struct {
	live     *server.Live
	serving  *parallel.Task
	quit     context.CancelFunc
	announce func() // once, when there is something to see
	remove   func() // what the browser was given
}

// begin serves the page of a recording. Nothing goes to standard output, which is
// the program's.
func (f *liveFlags) begin(cmd *cobra.Command, opt *record.Options, out string) (*livePage, error) {
	if !f.on {
		return nil, nil
	}
	address, err := f.address()
	if err != nil {
		return nil, err
	}
	token, room := rand.Text(), budget.Of(cmd.Context())
	show := serveFlags{noBrowser: f.noBrowser}
	s, err := server.New(show.options(room, token, address, server.NewLoader(dataset.Options{Warn: func(text string) { say("%s", text) }})))
	if err != nil {
		return nil, err
	}
	l, err := server.Listen(address)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	stop := make(chan struct{})
	opt.Stop = stop
	p := &livePage{live: s.BeginLive(filepath.Base(out), func() { close(stop) }), remove: func() {}}
	p.announce = sync.OnceFunc(func() { p.remove = show.shown(cmd.ErrOrStderr(), l, token) })
	opt.Watch = &record.Watch{
		Rows: int(min(liveRows, max(1, room.Limit()/4/2/liveRowBytes))),
		Show: func(ctx context.Context, r *run.Run) error {
			err := p.live.Show(ctx, r)
			p.announce()
			return err
		},
		Tell: func(now record.Sofar) { p.live.Tell(now.Samples, now.Elapsed) },
		Held: p.live.Held,
	}
	// An interrupt ends the recording first: its run is then written.
	var ctx context.Context
	ctx, p.quit = context.WithCancel(context.WithoutCancel(cmd.Context()))
	p.serving = parallel.Start(ctx, func(ctx context.Context) error { return s.Serve(ctx, l) })
	return p, nil
}

// shown says where the page is and opens it.
func (f *serveFlags) shown(out io.Writer, l net.Listener, token string) (remove func()) {
	return f.openBrowser(out, f.announce(out, l, token))
}

// fail says in the page why there is no run.
func (p *livePage) fail(err error) {
	if p != nil {
		p.live.Fail(err)
	}
}

// end shows the run that was written, until it is interrupted.
func (p *livePage) end(ctx context.Context, path string) error {
	if p == nil || ctx.Err() != nil {
		return nil
	}
	at, err := filepath.Abs(path)
	if err == nil {
		err = p.live.End(ctx, at)
	}
	if err != nil || ctx.Err() != nil {
		return err
	}
	p.announce() // of a program that ended before there was anything to see
	say("the page shows all of it; Ctrl-C stops")
	select {
	case <-ctx.Done():
		return nil
	case <-p.serving.Done():
		return p.serving.Wait()
	}
}

// close ends the server.
func (p *livePage) close() {
	if p == nil {
		return
	}
	p.quit()
	<-p.serving.Done()
	p.remove()
}
