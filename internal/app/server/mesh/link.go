package mesh

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/app/server/memory"
	"github.com/isobath/isobath/internal/base/parallel"
	"github.com/isobath/isobath/internal/domain/link"
)

// linked is the link of a run to mesh viewers. Its session holds the selection
// that they share with every page that shows the run.
type linked struct {
	session *link.Session
	server  *link.Server
	address string
	file    string // with address and token
	stop    func()
	joins   *watchers
}

// watchers are told that something changed; those that are slow miss the ones
// between.
type watchers struct {
	done chan struct{} // closed with the link

	mu  sync.Mutex
	all map[chan struct{}]struct{}
}

func newWatchers() *watchers {
	return &watchers{done: make(chan struct{}), all: map[chan struct{}]struct{}{}}
}

// join returns what is told of changes, until leave is called.
func (w *watchers) join() (news chan struct{}, leave func()) {
	news = make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all[news] = struct{}{}
	return news, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.all, news)
	}
}

func (w *watchers) tell() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.all {
		select {
		case c <- struct{}{}:
		default: // it has one to read already
		}
	}
}

// Link lets mesh viewers connect to a run that has samples on a mesh; say is told
// where. Empty file means link.DefaultFile.
func Link(ctx context.Context, run *frame.Run, address, file string, log *slog.Logger, say func(string)) error {
	l, err := startLink(ctx, run, address, file, log)
	if err != nil {
		return err
	}
	where := fmt.Sprintf("viewers connect to %s; address and token are in %s", l.address, l.file)
	if host, _, err := net.SplitHostPort(l.address); err == nil && !net.ParseIP(host).IsLoopback() {
		where += "; the link is not encrypted: over a network use an ssh tunnel"
	}
	say(where)
	return nil
}

// startLink starts the link of a run, unless it has one. It draws on the budget of
// the context and does not end with it.
func startLink(ctx context.Context, run *frame.Run, address, file string, log *slog.Logger) (*linked, error) {
	m := Of(run)
	if m == nil || m.View == nil {
		return nil, frame.BadRequest("%s has no samples on a mesh", run.Name)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.link != nil {
		return m.link, nil
	}
	if file == "" {
		var err error
		if file, err = link.DefaultFile(); err != nil {
			return nil, err
		}
	}
	ln, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("link %s: %w", address, err)
	}
	token := rand.Text()
	if err := link.WriteToken(file, ln.Addr().String(), token); err != nil {
		return nil, errors.Join(fmt.Errorf("write the token file: %w", err), ln.Close())
	}
	l := &linked{address: ln.Addr().String(), file: file, joins: newWatchers()}
	l.session = link.NewSession(m.View.Table, memory.Of(run).Engine, link.Mesh{Name: m.Series.Name, View: m.View})
	l.server = link.NewServer(l.session, token, log)
	l.server.OnJoin(l.joins.tell)
	unwatch := l.session.Watch(func(link.Change) { l.joins.tell() })
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	serving := parallel.Start(ctx, func(ctx context.Context) error { return l.server.Serve(ctx, ln) })
	l.stop = func() {
		cancel()
		if err := serving.Wait(); err != nil {
			log.Warn("the link to viewers ended", "err", err)
		}
		unwatch()
		close(l.joins.done)
	}
	m.link = l
	return l, nil
}

func (m *Mesh) linked() *linked {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.link
}

// unlink ends the link of a mesh, if it has one.
func (m *Mesh) unlink() {
	m.mu.Lock()
	l := m.link
	m.link = nil
	m.mu.Unlock()
	if l != nil {
		l.stop()
	}
}

// meshLink starts the link from the page: on loopback, at any free port.
func (s routes) meshLink(w http.ResponseWriter, r *http.Request, m *Mesh) error {
	l, err := startLink(r.Context(), m.Run, "127.0.0.1:0", "", s.Log)
	if err != nil {
		return err
	}
	return s.Answer(w, r, MeshLink{Address: l.address, File: l.file})
}

// meshSelect takes over what a page has selected.
func (s routes) meshSelect(w http.ResponseWriter, r *http.Request, m *Mesh) error {
	var ask MeshSelect
	if err := frame.ReadJSON(w, r, &ask); err != nil {
		return err
	}
	l := m.linked()
	if l == nil {
		return frame.BadRequest("%s is not linked to viewers", m.Run.Name)
	}
	for _, text := range []string{ask.Filter, ask.Where} {
		if err := memory.Of(m.Run).CheckSelection(text); err != nil {
			return err
		}
	}
	if _, _, err := l.session.SetAll(r.Context(), ask.Filter, ask.Where, ask.Origin); err != nil {
		return frame.WrongAsk(err)
	}
	return s.Answer(w, r, l.state())
}

func (l *linked) state() MeshViewers {
	where, rev := l.session.Text()
	return MeshViewers{Viewers: l.server.Viewers(), Where: where, Rev: rev, Origin: l.session.Origin()}
}

// meshViewers streams who is connected and what is selected, as events.
func (s routes) meshViewers(w http.ResponseWriter, r *http.Request, m *Mesh) error {
	l := m.linked()
	if l == nil {
		return frame.BadRequest("%s is not linked to viewers", m.Run.Name)
	}
	news, leave := l.joins.join()
	defer leave()
	stream := frame.OpenStream(w)
	defer stream.Close()
	for {
		if err := stream.Send("viewers", l.state()); err != nil {
			return nil
		}
		select {
		case <-r.Context().Done():
			return nil
		case <-l.joins.done:
			return nil
		case <-news:
		}
		time.Sleep(20 * time.Millisecond) // a drag changes faster than a page can show
	}
}
