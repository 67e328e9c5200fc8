package link

import (
	"bufio"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/isobath/isobath/internal/base/parallel"
	"github.com/isobath/isobath/internal/base/wholefile"
	"github.com/isobath/isobath/internal/domain/mesh"
)

// Limits of a server.
const (
	maxClients   = 16
	maxStrangers = 16 // connections that have not said hello yet
	helloTimeout = 5 * time.Second
	writeTimeout = 10 * time.Second
	pushInterval = 50 * time.Millisecond // at most 20 changes a second
)

// Server answers viewers about one session.
type Server struct {
	session *Session
	token   string
	log     *slog.Logger

	mu      sync.Mutex
	clients map[*client]bool
	next    int
	joined  func() // a viewer came or went
}

// NewServer makes a server that admits clients with the token.
func NewServer(s *Session, token string, log *slog.Logger) *Server {
	return &Server{session: s, token: token, log: log, clients: map[*client]bool{}}
}

// Viewers names the programs that are connected, in order.
func (s *Server) Viewers() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := []string{}
	for c := range s.clients {
		names = append(names, c.name)
	}
	slices.Sort(names)
	return names
}

// OnJoin calls f whenever a viewer comes or goes. It must be set before Serve.
func (s *Server) OnJoin(f func()) { s.joined = f }

// DefaultFile is where viewers look for address and token.
func DefaultFile() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(cache, "isobath")
	return filepath.Join(folder, "link"), os.MkdirAll(folder, 0o700)
}

// WriteToken writes address and token to a file only the user can read, whole
// or not at all. Clients read it: a token on a command line is seen by others.
func WriteToken(path, addr, token string) error {
	return wholefile.WriteBytes(path, wholefile.Private, []byte(addr+"\n"+token+"\n"))
}

// conn is a connection that carries whole frames.
type conn interface {
	// read reads a frame whose payload has at most so many bytes.
	read(ctx context.Context, most int64) (*request, error)
	write(frame []byte) error
	close()
}

// Serve accepts viewers on a listener until the context ends.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	stop := context.AfterFunc(ctx, func() { ln.Close() })
	defer stop()
	viewers := parallel.NewGroup(ctx)
	defer viewers.Wait()
	room := make(chan struct{}, maxClients+maxStrangers)
	for {
		c, err := ln.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		select {
		case room <- struct{}{}:
		default: // those that do not say hello are closed soon
			c.Close()
			continue
		}
		viewers.Go(func(ctx context.Context) error {
			defer func() { <-room }()
			// What fails for one viewer must not end the others.
			err := parallel.Safely(func() error {
				s.handle(ctx, &stream{c: c, r: bufio.NewReaderSize(c, 32<<10)})
				return nil
			})
			if err != nil {
				s.log.Error("a viewer's connection failed", "err", err)
			}
			return nil
		})
	}
}

// ServeHTTP carries the same frames as binary WebSocket messages. Pages of
// other origins are refused.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // Accept has answered
	}
	s.handle(r.Context(), &socket{c: c})
}

// stream is a TCP connection.
type stream struct {
	c net.Conn
	r *bufio.Reader
}

func (s *stream) read(ctx context.Context, most int64) (*request, error) {
	if d, ok := ctx.Deadline(); ok {
		_ = s.c.SetReadDeadline(d)
		defer func() { _ = s.c.SetReadDeadline(time.Time{}) }()
	}
	stop := context.AfterFunc(ctx, func() { _ = s.c.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	return readFrame(ctx, s.r, most)
}

func (s *stream) write(frame []byte) error {
	_ = s.c.SetWriteDeadline(time.Now().Add(writeTimeout))
	_, err := s.c.Write(frame)
	return err
}

func (s *stream) close() { s.c.Close() }

// socket is a WebSocket connection.
type socket struct{ c *websocket.Conn }

func (s *socket) read(ctx context.Context, most int64) (*request, error) {
	s.c.SetReadLimit(most + maxHeader)
	_, message, err := s.c.Reader(ctx)
	if err != nil {
		return nil, err
	}
	return readMessage(ctx, message, most)
}

func (s *socket) write(frame []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	return s.c.Write(ctx, websocket.MessageBinary, frame)
}

func (s *socket) close() { _ = s.c.Close(websocket.StatusNormalClosure, "") }

// client is one connected viewer.
type client struct {
	s    *Server
	conn conn
	id   string
	name string

	writeMu sync.Mutex
	push    chan Change // the newest change not yet sent
}

func (s *Server) handle(ctx context.Context, c conn) {
	var pushing *parallel.Task
	defer func() { // after the connection is closed
		if pushing != nil && pushing.Wait() != nil {
			s.log.Error("changes could not be sent", "err", pushing.Wait())
		}
	}()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer c.close()
	cl := &client{s: s, conn: c, push: make(chan Change, 1)}
	if err := cl.hello(ctx); err != nil {
		return
	}
	defer s.leave(cl)
	s.log.Info("viewer joined", "client", cl.id, "program", cl.name)
	s.tell()
	var stop func()
	defer func() {
		if stop != nil {
			stop()
		}
	}()
	for {
		r, err := c.read(ctx, maxBytes)
		if err != nil {
			cl.badFrame(err)
			return
		}
		if r.Type == "subscribe" && stop == nil {
			stop = s.session.Watch(cl.note)
			pushing = parallel.Start(ctx, func(ctx context.Context) error {
				cl.pushChanges(ctx)
				return nil
			})
		}
		if r.Re == 0 { // not an answer to a ping of ours
			err = cl.answer(ctx, r)
		}
		r.claim.Release()
		if err != nil {
			return
		}
	}
}

// badFrame tells the client what was wrong before the connection closes: after
// a bad frame its bytes have lost their meaning.
func (c *client) badFrame(err error) {
	var f *fault
	if errors.As(err, &f) {
		_ = c.send(&reply{header: map[string]any{"type": "error", "code": f.code, "message": f.message}})
	}
}

// hello admits a client: the first frame must come soon and carry the token.
func (c *client) hello(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, helloTimeout)
	defer cancel()
	r, err := c.conn.read(limited, 0) // hello has none
	if err != nil {
		return err // not ours: say nothing
	}
	refuse := func(code, text string) error {
		_ = c.send(&reply{header: map[string]any{"type": "error", "re": r.ID, "code": code, "message": text}})
		return errClose
	}
	switch {
	case r.Type != "hello":
		return refuse("auth", "the first message must be hello")
	case subtle.ConstantTimeCompare([]byte(r.Token), []byte(c.s.token)) != 1:
		return refuse("auth", "wrong token; read it from the token file of the running program")
	case r.Proto != protocolVersion:
		return refuse("proto", fmt.Sprintf("protocol %d; this program speaks %d", r.Proto, protocolVersion))
	case !c.s.join(c, r.Client):
		return refuse("busy", fmt.Sprintf("%d viewers are connected; close one", maxClients))
	}
	return c.send(c.welcome(ctx, r))
}

func (s *Server) join(c *client, name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.clients) >= maxClients {
		return false
	}
	s.next++
	c.id, c.name = fmt.Sprintf("c%d", s.next), name
	s.clients[c] = true
	return true
}

func (s *Server) leave(c *client) {
	s.mu.Lock()
	delete(s.clients, c)
	s.mu.Unlock()
	s.log.Info("viewer left", "client", c.id)
	s.tell()
}

func (s *Server) tell() {
	if s.joined != nil {
		s.joined()
	}
}

func (c *client) send(p *reply) error {
	frame, err := p.encode()
	if err != nil {
		return err
	}
	c.writeMu.Lock()
	defer c.writeMu.Unlock()
	return c.conn.write(frame)
}

// note remembers the newest change; an older one that was not sent is dropped.
func (c *client) note(ch Change) {
	if ch.Origin == c.id {
		return
	}
	for {
		select {
		case c.push <- ch:
			return
		default:
		}
		select {
		case old := <-c.push:
			if old.Rev > ch.Rev {
				ch = old
			}
		default:
		}
	}
}

func (c *client) pushChanges(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case ch := <-c.push:
			err := c.send(&reply{header: map[string]any{"type": "changed", "rev": ch.Rev, "origin": ch.Origin, "why": ch.Why, "samples": ch.Samples}})
			if err != nil {
				c.conn.close()
				return
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pushInterval):
		}
	}
}

func (c *client) welcome(ctx context.Context, r *request) *reply {
	s := c.s.session
	var meshes []map[string]any
	for _, m := range s.meshes {
		if d := describe(ctx, &m); d != nil {
			meshes = append(meshes, d)
		}
	}
	var columns []string
	for _, col := range s.table.Columns() {
		columns = append(columns, col.Name)
	}
	return &reply{header: map[string]any{
		"type": "welcome", "re": r.ID, "proto": protocolVersion, "client_id": c.id, "rev": s.Rev(),
		"fields": []string{"latency_sum", "samples", "latency_avg", "latency_max"}, "modes": []mesh.Mode{mesh.All, mesh.UpTo, mesh.Only},
		"columns": columns, "meshes": meshes, "max_header": maxHeader, "max_bytes": maxBytes,
	}}
}

// describe is a mesh as welcome lists it.
func describe(ctx context.Context, m *Mesh) map[string]any {
	series := m.View.Series
	p, err := m.View.At(ctx, len(series.Steps)-1)
	if err != nil {
		return nil
	}
	domains, levels := 0, []map[string]int{}
	for _, part := range p.Space.Parts {
		domains = max(domains, part.Domain+1)
		if part.Domain == 0 {
			levels = append(levels, map[string]int{"level": part.Level, "cells": part.Cells})
		}
	}
	iterations, times := make([]int64, len(series.Steps)), make([]*float64, len(series.Steps))
	for i := range series.Steps {
		st := &series.Steps[i]
		iterations[i] = st.Iteration
		if st.HasTime {
			times[i] = &st.Time
		}
	}
	d := map[string]any{"name": m.Name, "levels": levels, "domains": domains, "iterations": iterations, "times": times, "cells": p.Space.Cells}
	if dims := p.Space.Parts[0].Dims; len(p.Space.Parts) == 1 && dims != ([3]int{}) {
		d["dims"] = dims
	}
	return d
}
