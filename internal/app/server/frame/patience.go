package frame

import (
	"io"
	"net/http"
	"time"
)

// Patience with clients. Who sends or reads nothing for so long has gone, and
// holds a connection and perhaps a run.
var (
	readWithin  = 30 * time.Second
	writeWithin = 30 * time.Second
)

// slowest is the rate, in bytes a second, that a client must read an answer at:
// tunnels through a phone are faster.
const slowest = 32 << 10

// Patient reads the body of a request: each piece must come soon.
func Patient(w http.ResponseWriter, body io.Reader) io.Reader {
	return &patient{body, http.NewResponseController(w)}
}

type patient struct {
	body io.Reader
	conn *http.ResponseController
}

func (p *patient) Read(b []byte) (int, error) {
	// What is read from memory, as in tests, has no deadline and needs none.
	_ = p.conn.SetReadDeadline(time.Now().Add(readWithin))
	n, err := p.body.Read(b)
	if err == io.EOF { // after another error nobody waits for the rest
		_ = p.conn.SetReadDeadline(time.Time{})
	}
	return n, err
}

// within gives a client time for an answer of so many bytes; undo leaves the
// connection to the next one without a deadline.
func within(w http.ResponseWriter, bytes int) (undo func()) {
	conn := http.NewResponseController(w)
	_ = conn.SetWriteDeadline(time.Now().Add(writeWithin + time.Duration(bytes)*time.Second/slowest))
	return func() { _ = conn.SetWriteDeadline(time.Time{}) }
}

// SetPatience sets how long clients are waited for, for tests, and undo sets it
// back. No request may be under way.
//
// unused: by the program.
func SetPatience(d time.Duration) (undo func()) {
	read, write := readWithin, writeWithin
	readWithin, writeWithin = d, d
	return func() { readWithin, writeWithin = read, write }
}
