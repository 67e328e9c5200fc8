package link

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/domain/mesh"
	"github.com/isobath/isobath/internal/engine/kernel"
	"github.com/isobath/isobath/internal/engine/query"
)

// newTestSession has 100 samples on a cube of 2^3 cells: sample i touches cell
// i mod 8, on CPU i mod 4, with latency i, in iteration i/10.
func newTestSession(t testing.TB) *Session {
	t.Helper()
	ints := func(name string, f func(i int) int64) *table.Column {
		d := make([]int64, 100)
		for i := range d {
			d[i] = f(i)
		}
		return &table.Column{Name: name, Data: d, Provenance: table.Measured}
	}
	tab, err := table.New("samples", []*table.Column{
		ints("x", func(i int) int64 { return int64(i) % 2 }), ints("y", func(i int) int64 { return int64(i) / 2 % 2 }),
		ints("z", func(i int) int64 { return int64(i) / 4 % 2 }), ints("cpu", func(i int) int64 { return int64(i) % 4 }),
		ints("latency", func(i int) int64 { return int64(i) }), ints("iteration", func(i int) int64 { return int64(i) / 10 }),
	})
	if err != nil {
		t.Fatal(err)
	}
	series, err := mesh.UnitMesh(t.Context(), [3]int{2, 2, 2})
	if err != nil {
		t.Fatal(err)
	}
	view, err := mesh.NewView(t.Context(), series, tab, mesh.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return NewSession(tab, engineFor(tab, view), Mesh{Name: "cube", View: view})
}

// engineFor is an engine that knows the sets of cells of a view.
func engineFor(t *table.Table, view *mesh.View) *kernel.Engine {
	sets := &query.RowSets{}
	sets.FindBy(view.RowsOfSet)
	return kernel.New(query.Data{Table: t, RowSets: sets}, kernel.Options{})
}

// peer is a client of the wire, written for the tests.
type peer struct {
	t testing.TB
	c net.Conn
	r *bufio.Reader
}

const testToken = "0123456789abcdef0123456789abcdef"

func startServer(t testing.TB, s *Session) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		done <- NewServer(s, testToken, slog.New(slog.DiscardHandler)).Serve(ctx, ln)
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return ln.Addr().String()
}

func dial(t testing.TB, addr string) *peer {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &peer{t: t, c: c, r: bufio.NewReader(c)}
}

func join(t testing.TB, addr string) *peer {
	p := dial(t, addr)
	if got := p.call(fmt.Sprintf(`{"type":"hello","id":1,"proto":1,"client":"test","token":%q}`, testToken)); got["type"] != "welcome" {
		t.Fatalf("hello: %v", got)
	}
	return p
}

func (p *peer) send(text string) {
	p.t.Helper()
	if _, err := p.c.Write([]byte(text + "\n")); err != nil {
		p.t.Fatal(err)
	}
}

func (p *peer) read() (map[string]any, []byte) {
	p.t.Helper()
	_ = p.c.SetReadDeadline(time.Now().Add(5 * time.Minute))
	line, err := p.r.ReadBytes('\n')
	if err != nil {
		p.t.Fatal(err)
	}
	var head map[string]any
	if err := json.Unmarshal(line, &head); err != nil {
		p.t.Fatal(err)
	}
	n, _ := head["bytes"].(float64)
	data := make([]byte, int(n))
	if _, err := io.ReadFull(p.r, data); err != nil {
		p.t.Fatal(err)
	}
	return head, data
}

func (p *peer) call(text string) map[string]any {
	p.t.Helper()
	p.send(text)
	head, _ := p.read()
	return head
}

func (p *peer) field(text string) ([]float64, map[string]any) {
	p.t.Helper()
	p.send(text)
	head, data := p.read()
	if head["type"] != "field" {
		p.t.Fatalf("%s: %v", text, head)
	}
	var out []float64
	for ; len(data) >= 4; data = data[4:] {
		out = append(out, float64(math.Float32frombits(binary.LittleEndian.Uint32(data))))
	}
	return out, head
}

func want(t *testing.T, got map[string]any, fields ...any) {
	t.Helper()
	for i := 0; i < len(fields); i += 2 {
		if g := got[fields[i].(string)]; g != fields[i+1] {
			t.Errorf("%v = %v, want %v (%v)", fields[i], g, fields[i+1], got)
		}
	}
}

func TestHello(t *testing.T) {
	addr := startServer(t, newTestSession(t))
	tests := []struct{ name, send, code string }{
		{"wrong token", `{"type":"hello","id":1,"proto":1,"token":"no"}`, "auth"},
		{"no hello", `{"type":"ping","id":1}`, "auth"},
		{"another protocol", fmt.Sprintf(`{"type":"hello","id":1,"proto":9,"token":%q}`, testToken), "proto"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := dial(t, addr)
			want(t, p.call(tt.send), "type", "error", "code", tt.code)
			if _, err := p.r.ReadByte(); err == nil {
				t.Error("the connection stays open")
			}
		})
	}
	t.Run("HTTP", func(t *testing.T) {
		p := dial(t, addr)
		p.send("GET / HTTP/1.1")
		if rest, _ := io.ReadAll(p.r); len(rest) > 0 {
			t.Errorf("an HTTP request is answered %q", rest)
		}
	})
	t.Run("too many", func(t *testing.T) {
		for range maxClients {
			join(t, addr)
		}
		p := dial(t, addr)
		want(t, p.call(fmt.Sprintf(`{"type":"hello","id":1,"proto":1,"token":%q}`, testToken)), "code", "busy")
	})
}

func TestSelectAndFields(t *testing.T) {
	addr := startServer(t, newTestSession(t))
	p := join(t, addr)
	want(t, p.call(`{"type":"check_mesh","id":2,"mesh":"cube","cells":8}`), "type", "ok", "re", 2.0)
	want(t, p.call(`{"type":"check_mesh","id":3,"mesh":"cube","cells":9}`), "code", "mesh_mismatch", "message", "mesh has 9 cells, program has 8")
	want(t, p.call(`{"type":"check_mesh","id":3,"mesh":"sphere","cells":8}`), "code", "unknown_mesh")

	// CPU 1 only, then latency from 50: the second does not undo the first.
	want(t, p.call(`{"type":"select","id":4,"op":"merge","ranges":{"cpu":[1,1]}}`), "rev", 2.0, "samples", 25.0)
	want(t, p.call(`{"type":"select","id":5,"op":"merge","ranges":{"latency":[50,null]}}`), "rev", 3.0, "samples", 12.0)
	want(t, p.call(`{"type":"select","id":6,"op":"merge","ranges":{"latency":[50,null]}}`), "rev", 3.0, "samples", 12.0)
	values, head := p.field(`{"type":"get_field","id":7,"mesh":"cube","mode":"all","fields":["latency_sum"]}`)
	sums := map[int]float64{}
	for i := 50; i < 100; i++ {
		if i%4 == 1 {
			sums[i%8] += float64(i)
		}
	}
	for c, v := range values {
		if w, ok := sums[c]; ok != !math.IsNaN(v) || ok && v != w {
			t.Errorf("cell %d: %g, want %g", c, v, w)
		}
	}
	want(t, head, "rev", 3.0, "cells", 8.0, "mode", "all")
	if got := head["counts"].(map[string]any)["used"]; got != 12.0 {
		t.Errorf("used %v", got)
	}
	zero, _ := p.field(`{"type":"get_field","id":8,"fields":["latency_sum"],"empty":"zero"}`)
	if zero[0] != 0 {
		t.Errorf("cell 0 with empty zero: %g", zero[0])
	}
	want(t, p.call(`{"type":"select","id":9,"op":"merge","ranges":{"cpu":null}}`), "samples", 50.0)
	want(t, p.call(`{"type":"select","id":10,"op":"replace","ranges":{}}`), "samples", 100.0)
	want(t, p.call(`{"type":"select","id":11,"where":"cpu in (0, 1) & latency < 10"}`), "samples", 6.0)
	want(t, p.call(`{"type":"select","id":12,"op":"merge","ranges":{"latency":[null,5]}}`), "samples", 4.0)
	for _, bad := range []struct{ send, code string }{
		{`{"type":"select","id":13,"op":"merge","ranges":{"colour":[1,2]}}`, "bad_range"},
		{`{"type":"select","id":13,"op":"merge","ranges":{"cpu":[2,1]}}`, "bad_range"},
		{`{"type":"select","id":13,"where":"cpu ?? 3"}`, "bad_range"},
		{`{"type":"get_field","id":14,"fields":["colour_sum"]}`, "bad_field"},
		{`{"type":"get_field","id":14,"fields":[]}`, "bad_field"},
		{`{"type":"get_field","id":14,"mode":"never","fields":["samples"]}`, "bad_range"},
		{`{"type":"get_field","id":14,"level":3,"fields":["samples"]}`, "unknown_mesh"},
		{`{"type":"dance","id":15}`, "unknown_type"},
	} {
		want(t, p.call(bad.send), "type", "error", "code", bad.code)
	}
	want(t, p.call(`{"type":"ping","id":16}`), "type", "ok", "re", 16.0)
	report := p.call(`{"type":"report","id":17,"by":"cpu"}`)
	if first := report["groups"].([]any)[0].(map[string]any); first["key"] != "1" || first["samples"] != 2.0 || first["latency"] != 6.0 {
		t.Errorf("report %v", report)
	}
}

func pickText(id int, op string, cells ...uint32) string {
	b := new(bytes.Buffer)
	_ = binary.Write(b, binary.LittleEndian, cells)
	return fmt.Sprintf(`{"type":"pick","id":%d,"mesh":"cube","op":%q,"bytes":%d,"arrays":[{"name":"cells","dtype":"<u4","shape":[%d],"bytes":%d}]}`+"\n%s",
		id, op, b.Len(), len(cells), b.Len(), b.String())
}

func (p *peer) pick(id int, op string, cells ...uint32) map[string]any {
	p.t.Helper()
	if _, err := p.c.Write([]byte(pickText(id, op, cells...))); err != nil {
		p.t.Fatal(err)
	}
	head, _ := p.read()
	return head
}

// TestPickAndEcho picks cells in one viewer: the other is told, the first not.
func TestPickAndEcho(t *testing.T) {
	s := newTestSession(t)
	addr := startServer(t, s)
	a, b := join(t, addr), join(t, addr)
	for _, p := range []*peer{a, b} {
		want(t, p.call(`{"type":"subscribe","id":2,"what":["changed"]}`), "type", "ok")
	}
	want(t, a.pick(3, "replace", 0, 3), "type", "ok", "rev", 2.0, "samples", 26.0)
	got, _ := b.read()
	want(t, got, "type", "changed", "rev", 2.0, "why", "pick", "samples", 26.0)
	if got["origin"] == nil {
		t.Error("changed without an origin")
	}
	want(t, a.pick(4, "add", 5), "rev", 3.0)
	want(t, a.pick(5, "remove", 0), "rev", 4.0)
	if got := fmt.Sprint(s.Cells(t.Context(), "cube")); got != "[3 5]" {
		t.Errorf("cells %s", got)
	}
	want(t, a.pick(6, "replace", 1, 8), "code", "bad_range") // cell 8 does not exist
	if got := fmt.Sprint(s.Cells(t.Context(), "cube")); got != "[3 5]" {
		t.Errorf("a refused pick changed the cells to %s", got)
	}
	// The cells stay when a range is added, and the range when cells are cleared.
	want(t, a.call(`{"type":"select","id":7,"op":"merge","ranges":{"latency":[null,49]}}`), "samples", 12.0)
	want(t, a.call(`{"type":"pick","id":8,"mesh":"cube","op":"clear"}`), "samples", 50.0)
	// b hears of the newest state in the end, whatever was skipped between.
	for {
		head, _ := b.read()
		if head["rev"] == 6.0 {
			break
		}
	}
	// a was never told of its own changes: the next thing it reads is its answer.
	want(t, a.call(`{"type":"ping","id":9}`), "type", "ok", "re", 9.0)
}

func TestBadFrames(t *testing.T) {
	addr := startServer(t, newTestSession(t))
	tests := []struct{ name, send, code string }{
		{"not JSON", "hello", "bad_frame"},
		{"huge payload", `{"type":"pick","id":2,"bytes":1000000000000}`, "too_large"},
		{"arrays and bytes differ", `{"type":"pick","id":2,"bytes":8,"arrays":[{"name":"cells","dtype":"<u4","shape":[1],"bytes":4}]}`, "bad_frame"},
		{"long header", strings.Repeat("x", maxHeader+10), "bad_frame"},
		{"negative", `{"type":"pick","id":2,"bytes":-1}`, "too_large"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := join(t, addr)
			want(t, p.call(tt.send), "type", "error", "code", tt.code)
		})
	}
}

// TestWebSocket speaks the same frames through an HTTP server.
func TestWebSocket(t *testing.T) {
	srv := httptest.NewServer(NewServer(newTestSession(t), testToken, slog.New(slog.DiscardHandler)))
	defer srv.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	c, resp, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(srv.URL, "http"), nil)
	if err != nil {
		t.Fatal(err, resp)
	}
	defer c.CloseNow()
	call := func(text string) (map[string]any, []byte) {
		if err := c.Write(ctx, websocket.MessageBinary, []byte(text)); err != nil {
			t.Fatal(err)
		}
		_, msg, err := c.Read(ctx)
		if err != nil {
			t.Fatal(err)
		}
		line, payload, _ := bytes.Cut(msg, []byte("\n"))
		var head map[string]any
		if err := json.Unmarshal(line, &head); err != nil {
			t.Fatal(err)
		}
		return head, payload
	}
	head, _ := call(fmt.Sprintf(`{"type":"hello","id":1,"proto":1,"token":%q}`, testToken))
	want(t, head, "type", "welcome")
	head, payload := call(`{"type":"get_field","id":2,"fields":["samples"]}` + "\n")
	want(t, head, "type", "field")
	if len(payload) != 32 || binary.LittleEndian.Uint32(payload) != 13 {
		t.Errorf("payload % x", payload)
	}
	head, _ = call(pickText(3, "replace", 2))
	want(t, head, "samples", 13.0)
}

func TestWriteToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "link")
	if err := WriteToken(path, "127.0.0.1:9", "secret"); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
	text, _ := os.ReadFile(path)
	if string(text) != "127.0.0.1:9\nsecret\n" {
		t.Errorf("file %q", text)
	}
	if a, b := rand.Text(), rand.Text(); len(a) < 26 || a == b {
		t.Errorf("tokens %s and %s", a, b)
	}
}

// FuzzFrame feeds bytes to the frame reader.
func FuzzFrame(f *testing.F) {
	f.Add([]byte(pickText(1, "replace", 1, 2)))
	f.Add([]byte(`{"type":"get_field","fields":["samples"]}` + "\n"))
	f.Add([]byte(`{"bytes":5,"arrays":[{"bytes":5}]}` + "\nabcde"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := readFrame(t.Context(), bufio.NewReader(bytes.NewReader(b)), maxBytes); err == nil {
			for i := range r.Arrays {
				_, _ = r.Arrays[i].cellList()
			}
		}
		_, _ = readMessage(t.Context(), bytes.NewReader(b), maxBytes)
	})
}

// TestTerms: a clause takes the place of its own kind and leaves the others.
func TestTerms(t *testing.T) {
	s := newTestSession(t)
	ctx := t.Context()
	step := func(what string, err error, want string) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if got, _ := s.Text(); got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	at := func(lo, hi float64) *[2]float64 { return &[2]float64{lo, hi} }
	_, _, err := s.SetAll(ctx, "", "latency > 3 & cpu in 0..1 & (cpu = 0 | latency < 50)", "page")
	step("page", err, "latency > 3 & cpu in 0..1 & (cpu = 0 | latency < 50)")
	_, _, err = s.Select(ctx, "merge", map[string]*[2]float64{"cpu": at(1, 1)}, "c1")
	step("range", err, "latency > 3 & cpu in 1..1 & (cpu = 0 | latency < 50)")
	_, _, err = s.Pick(ctx, "cube", 0, 0, "replace", []uint32{5, 3, 4}, "c1")
	step("pick", err, `latency > 3 & cpu in 1..1 & (cpu = 0 | latency < 50) & rows "cells 3-5"`)
	_, _, err = s.Pick(ctx, "cube", 0, 0, "remove", []uint32{4}, "c2")
	step("pick less", err, `latency > 3 & cpu in 1..1 & (cpu = 0 | latency < 50) & rows "cells 3 5"`)
	_, _, err = s.SetWhere(ctx, "cpu = 0", "c2")
	step("where", err, `latency > 3 & cpu in 1..1 & cpu = 0 & rows "cells 3 5"`)
	_, _, err = s.SetWhere(ctx, "cpu != 0", "c2")
	step("another where", err, `latency > 3 & cpu in 1..1 & cpu != 0 & rows "cells 3 5"`)
	_, _, err = s.Select(ctx, "replace", map[string]*[2]float64{"latency": at(5, 9)}, "c1")
	step("replace ranges", err, `latency in 5..9 & cpu != 0 & rows "cells 3 5"`)
	rev := s.Rev()
	_, _, err = s.SetAll(ctx, "", `latency in 5..9 & cpu != 0 & rows "cells 3 5"`, "page")
	step("the same", err, `latency in 5..9 & cpu != 0 & rows "cells 3 5"`)
	if s.Rev() != rev {
		t.Error("the same selection is a new revision")
	}
	if _, _, err := s.SetAll(ctx, "", `rows "cells 99999999"`, "page"); err == nil {
		t.Error("cells that do not exist are selected")
	}
}

// Before hello nobody is believed: a payload is refused by its header, and those
// who say nothing fill a small room, not the memory.
func TestStrangersTakeNoMemory(t *testing.T) {
	addr := startServer(t, newTestSession(t))
	var conns []net.Conn
	for range maxClients + maxStrangers + 8 {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		conns = append(conns, c)
	}
	c := conns[0]
	fmt.Fprintf(c, "{\"type\":\"hello\",\"bytes\":%d,\"arrays\":[{\"name\":\"x\",\"bytes\":%d}]}\n", maxBytes, maxBytes)
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	chunk := make([]byte, 1<<20)
	sent := 0
	for range 300 {
		n, err := c.Write(chunk)
		sent += n
		if err != nil {
			break
		}
	}
	if sent > 64<<20 {
		t.Errorf("%d MB were taken from a stranger", sent>>20)
	}
}
