package server

import (
	"net"
	"sync"
	"time"
)

// silence is how long a connection may say nothing: before it has asked, and
// between two questions.
type silence struct{ head, idle time.Duration }

// maxConnections bounds those that are open at once: a page has six, and whoever
// can reach the port can open as many as the system lets them.
const maxConnections = 512

// limited is a listener that accepts the next connection only when fewer than
// most are open. Those that send nothing are closed by the deadlines of the
// server.
func limited(l net.Listener, most int) net.Listener {
	return &limitedListener{l, make(chan struct{}, most), make(chan struct{}), sync.Once{}}
}

type limitedListener struct {
	net.Listener
	open   chan struct{}
	closed chan struct{}
	once   sync.Once
}

func (l *limitedListener) Accept() (net.Conn, error) {
	select {
	case l.open <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.open
		return nil, err
	}
	return &limitedConn{Conn: c, free: sync.OnceFunc(func() { <-l.open })}, nil
}

func (l *limitedListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// limitedConn gives its place back when it is closed.
type limitedConn struct {
	net.Conn
	free func()
}

func (c *limitedConn) Close() error {
	defer c.free()
	return c.Conn.Close()
}
