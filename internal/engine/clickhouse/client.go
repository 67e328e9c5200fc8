package clickhouse

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// client speaks to one server.
type client struct {
	http     *http.Client
	host     string // as people know it: host and port
	database string
	user     string
	password string
	secure   bool
	timeout  time.Duration

	mu   sync.Mutex
	base string // of the HTTP interface, once it is known
}

func newClient(a *Address) (*client, error) {
	secret, err := password()
	if err != nil {
		return nil, err
	}
	return &client{
		http: &http.Client{
			Transport: &http.Transport{
				DialContext:         (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
				MaxIdleConnsPerHost: questionsAtOnce, IdleConnTimeout: 2 * time.Second,
			},
			// A server that sends us elsewhere would have the password sent there too.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		host: a.Host, database: a.Database, user: a.User, password: secret, secure: a.Secure, timeout: a.Timeout,
	}, nil
}

// questionsAtOnce bounds what one answer asks of a server at a time.
const questionsAtOnce = 4

func (c *client) close() { c.http.CloseIdleConnections() }

// at is the same client for another server.
func (c *client) at(host string) *client {
	return &client{http: c.http, host: host, database: c.database, user: c.user, password: c.password, secure: c.secure, timeout: c.timeout}
}

// query asks for rows.
func (c *client) query(ctx context.Context, sql string) (*block, error) {
	body, err := c.send(ctx, sql+" FORMAT Native", nil)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	b, err := readBlocks(body)
	if err != nil {
		return nil, c.lost(ctx, err)
	}
	return b, nil
}

// do runs a statement without an answer.
func (c *client) do(ctx context.Context, sql string) error {
	body, err := c.send(ctx, sql, nil)
	if err != nil {
		return err
	}
	defer body.Close()
	if _, err = io.Copy(io.Discard, body); err != nil {
		return c.lost(ctx, err)
	}
	return nil
}

// insert adds rows to a table: all of them, or an error.
func (c *client) insert(ctx context.Context, table string, b *block) error {
	names := make([]string, len(b.columns))
	for i, col := range b.columns {
		names[i] = col.name
	}
	rows, err := b.bytes()
	if err != nil {
		return err
	}
	body, err := c.send(ctx, "INSERT INTO "+table+" ("+strings.Join(names, ", ")+") FORMAT Native", rows)
	if err != nil {
		return err
	}
	return body.Close()
}

// send sends a statement, with the rows of an insert in the body. An answer
// comes whole or as an error: the server keeps it until the query has ended.
func (c *client) send(ctx context.Context, sql string, rows []byte) (io.ReadCloser, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.timeout, &timeoutError{Server: c.host, After: c.timeout})
	base, err := c.find(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	q := url.Values{"database": {c.database}, "wait_end_of_query": {"1"}}
	payload := []byte(sql)
	if rows != nil {
		q.Set("query", sql)
		payload = rows
	}
	if len(sql) > 200_000 { // the default bound is 256 KiB; a setting may be forbidden
		q.Set("max_query_size", strconv.Itoa(2*len(sql)))
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/?"+q.Encode(), bytes.NewReader(payload))
	if err != nil {
		cancel()
		return nil, err
	}
	c.sign(req)
	resp, err := c.http.Do(req)
	if err != nil {
		defer cancel()
		return nil, c.lost(ctx, err)
	}
	if resp.StatusCode != http.StatusOK {
		defer cancel()
		defer resp.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
		return nil, c.refused(resp.StatusCode, string(text))
	}
	return &answerBody{resp.Body, cancel}, nil
}

// answerBody ends the time-out of a question with its answer.
type answerBody struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (b *answerBody) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}

func (c *client) sign(req *http.Request) {
	if c.user != "" {
		req.Header.Set("X-ClickHouse-User", c.user)
	}
	if c.password != "" {
		req.Header.Set("X-ClickHouse-Key", c.password)
	}
}

// otherPort is how the native port answers HTTP: it names the right one.
var otherPort = regexp.MustCompile(`You must use port (\d{1,5}) for HTTP`)

// find returns the address of the HTTP interface. The port given may be the
// native one, as clickhouse-client and the tables of clusters have it: that
// answers with the number of the other.
func (c *client) find(ctx context.Context) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.base != "" {
		return c.base, nil
	}
	scheme := "http://"
	if c.secure {
		scheme = "https://"
	}
	host := c.host
	for range 2 {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+host+"/ping", nil)
		if err != nil {
			return "", err
		}
		resp, err := c.http.Do(req)
		if err != nil {
			return "", c.lost(ctx, err)
		}
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 4096))
		resp.Body.Close()
		if m := otherPort.FindSubmatch(text); m != nil {
			name, _, err := net.SplitHostPort(c.host)
			if err != nil {
				return "", err
			}
			host = net.JoinHostPort(name, string(m[1]))
			continue
		}
		c.base = scheme + host
		return c.base, nil
	}
	return "", fmt.Errorf("%s does not say where its HTTP interface is", c.host)
}

// timeoutError says that a server did not answer in time.
type timeoutError struct {
	Server string
	After  time.Duration
}

func (e *timeoutError) Error() string {
	return fmt.Sprintf("%s did not answer within %v; select fewer rows, or give a longer ?timeout=", e.Server, e.After)
}

// LostError says that a server cannot be reached, or went away.
type LostError struct {
	Server string
	Reason string
}

func (e *LostError) Error() string {
	return fmt.Sprintf("the ClickHouse server %s %s", e.Server, e.Reason)
}

// lost explains why no answer came. What the transport says may hold the address
// with everything in it, so only its last cause is kept.
func (c *client) lost(ctx context.Context, err error) error {
	var late *timeoutError
	if errors.As(context.Cause(ctx), &late) {
		return late
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var refused *net.OpError
	if errors.As(err, &refused) {
		return &LostError{c.host, fmt.Sprintf("cannot be reached: %v", refused.Err)}
	}
	var slow net.Error
	if errors.As(err, &slow) && slow.Timeout() {
		return &timeoutError{Server: c.host, After: c.timeout}
	}
	var of *url.Error
	if errors.As(err, &of) {
		err = of.Err
	}
	return &LostError{c.host, "went away while it answered: " + c.shown(err.Error())}
}

// shown is a text of a server as it may be shown: without the password, should it
// repeat that, and not longer than a sentence.
func (c *client) shown(text string) string {
	text = strings.TrimSpace(text)
	if c.password != "" {
		text = strings.ReplaceAll(text, c.password, "…")
	}
	const most = 300
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
