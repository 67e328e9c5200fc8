package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/isobath/isobath/internal/app/server/frame"
)

const testToken = "0123456789abcdefghijkl"

// newTestServer returns a server with one run of six samples, id "six".
func newTestServer(t testing.TB, change func(*Options)) *Server {
	t.Helper()
	opt := Options{
		Version: "test", Token: testToken, Index: "index.html",
		Assets: fstest.MapFS{
			"index.html":      {Data: []byte("<!doctype html><title>Isobath</title>")},
			"assets/app-1.js": {Data: []byte(strings.Repeat("export const x = 1;\n", 500))},
		},
		Open: func(context.Context, string, func(frame.Progress)) (*frame.Run, error) { panic("not expected") },
	}
	if change != nil {
		change(&opt)
	}
	s, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	s.Add(sixSamples(t))
	return s
}

// do sends a request as the page would.
func do(s http.Handler, method, path, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://127.0.0.1:7117"+path, strings.NewReader(body))
	r.Header.Set(TokenHeader, testToken)
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// get decodes a JSON answer.
func get[T any](t *testing.T, w *httptest.ResponseRecorder, status int) T {
	t.Helper()
	var v T
	if w.Code != status {
		t.Fatalf("status %d, want %d: %s", w.Code, status, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Fatalf("%v in %s", err, w.Body)
	}
	return v
}

// Links to a shared server have the name that others know it by.
func TestSharedAddress(t *testing.T) {
	for _, tt := range []struct {
		shared bool
		hosts  []string
		want   string
	}{
		{true, []string{"lab.example", "other.example"}, "http://lab.example:7117/"},
		{true, []string{"proxy.example:8443"}, "http://proxy.example:8443/"},
		{true, []string{"2001:db8::1"}, "http://[2001:db8::1]:7117/"},
		{true, nil, ""},
		{false, []string{"lab.example"}, ""},
	} {
		s := newTestServer(t, func(o *Options) { o.Shared, o.Hosts = tt.shared, tt.hosts })
		r := httptest.NewRequest("GET", "http://127.0.0.1:9000/api/v1/runs", nil) // through a tunnel
		r.Header.Set(TokenHeader, testToken)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{Port: 7117})))
		if got := get[frame.Home](t, w, http.StatusOK).Address; got != tt.want {
			t.Errorf("shared %v as %v: address %q, want %q", tt.shared, tt.hosts, got, tt.want)
		}
	}
}

func TestGuard(t *testing.T) {
	s := newTestServer(t, func(o *Options) { o.Hosts = []string{"Lab.example", "proxy.example:8443"} })
	tests := []struct {
		name   string
		method string
		path   string
		header []string
		want   int
	}{
		{"page without token", "GET", "/", []string{TokenHeader, ""}, 200},
		{"api", "GET", "/api/v1/runs", nil, 200},
		{"no token", "GET", "/api/v1/runs", []string{TokenHeader, ""}, 401},
		{"wrong token", "GET", "/api/v1/runs", []string{TokenHeader, "0123456789abcdefghijkm"}, 401},
		{"token with a tail", "GET", "/api/v1/runs", []string{TokenHeader, testToken + "x"}, 401},
		{"no token for an unknown route either", "GET", "/api/v2/x", []string{TokenHeader, ""}, 401},
		{"localhost", "GET", "/api/v1/runs", []string{"Host", "localhost:9000"}, 200},
		{"IPv6", "GET", "/api/v1/runs", []string{"Host", "[::1]:7117"}, 200},
		{"absolute name", "GET", "/api/v1/runs", []string{"Host", "localhost.:7117"}, 200},
		{"foreign host", "GET", "/api/v1/runs", []string{"Host", "evil.example"}, 403},
		{"foreign host, page", "GET", "/", []string{"Host", "evil.example:7117"}, 403},
		{"foreign host that begins well", "GET", "/", []string{"Host", "127.0.0.1.evil.example"}, 403},
		{"no host", "GET", "/", []string{"Host", ""}, 403},
		{"allowed host", "GET", "/api/v1/runs", []string{"Host", "lab.EXAMPLE:7117"}, 200},
		{"allowed host and port", "GET", "/api/v1/runs", []string{"Host", "proxy.example:8443"}, 200},
		{"allowed host, other port", "GET", "/api/v1/runs", []string{"Host", "proxy.example:8444"}, 403},
		{"own origin", "PUT", "/api/v1/runs/six/selections", []string{"Origin", "http://127.0.0.1:7117"}, 400},
		{"cross-origin", "PUT", "/api/v1/runs/six/selections", []string{"Origin", "http://evil.example"}, 403},
		{"cross-origin by fetch metadata", "PUT", "/api/v1/runs/six/selections", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"other port is another origin", "POST", "/api/v1/runs/six/ask", []string{"Origin", "http://127.0.0.1:8080"}, 403},
		{"unknown route", "GET", "/api/v1/nothing", nil, 404},
		{"unknown run", "GET", "/api/v1/runs/seven", nil, 404},
		{"unknown asset", "GET", "/assets/app-2.js", nil, 404},
		{"asset outside", "GET", "/assets/..%2f..%2f..%2fetc%2fpasswd", nil, 404},
		{"asset outside, cleaned", "GET", "/etc/passwd", nil, 404},
		{"posted asset", "POST", "/index.html", nil, 405},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := do(s, tt.method, tt.path, "", tt.header...)
			if w.Code != tt.want {
				t.Fatalf("status %d, want %d: %s", w.Code, tt.want, w.Body)
			}
			if w.Code >= 400 && strings.HasPrefix(tt.path, "/api") {
				if f := get[frame.Failure](t, w, tt.want); f.Error == "" {
					t.Error("the failure has no sentence")
				}
			}
			csp := w.Header().Get("Content-Security-Policy")
			if !strings.Contains(csp, "default-src 'self'") || !strings.Contains(csp, "frame-ancestors 'none'") ||
				strings.Contains(csp, "script-src") {
				t.Errorf("policy %q", csp)
			}
			if w.Header().Get("X-Content-Type-Options") != "nosniff" {
				t.Error("no nosniff")
			}
		})
	}
}

func TestAssets(t *testing.T) {
	s := newTestServer(t, nil)
	plain := do(s, "GET", "/assets/app-1.js", "")
	packed := do(s, "GET", "/assets/app-1.js", "", "Accept-Encoding", "br, gzip")
	if plain.Header().Get("Content-Encoding") != "" || packed.Header().Get("Content-Encoding") != "gzip" {
		t.Fatalf("encodings %q and %q", plain.Header().Get("Content-Encoding"), packed.Header().Get("Content-Encoding"))
	}
	best := do(s, "GET", "/assets/app-1.js", "", "Accept-Encoding", "gzip, zstd")
	unpack, err := zstd.NewReader(best.Body)
	if err != nil || best.Header().Get("Content-Encoding") != "zstd" {
		t.Fatalf("encoding %q, %v", best.Header().Get("Content-Encoding"), err)
	}
	defer unpack.Close()
	if got, err := io.ReadAll(unpack); err != nil || !bytes.Equal(got, plain.Body.Bytes()) {
		t.Errorf("zstd gives other bytes: %v", err)
	}
	if packed.Body.Len() >= plain.Body.Len()/4 || plain.Body.Len() != 10000 {
		t.Errorf("%d bytes packed of %d", packed.Body.Len(), plain.Body.Len())
	}
	if got := plain.Header().Get("Content-Type"); got != "text/javascript; charset=utf-8" {
		t.Errorf("type %q", got)
	}
	if plain.Header().Get("ETag") == packed.Header().Get("ETag") {
		t.Error("two representations share a strong tag")
	}
	for _, w := range []*httptest.ResponseRecorder{plain, packed, best} {
		again := do(s, "GET", "/assets/app-1.js", "", "Accept-Encoding", w.Header().Get("Content-Encoding"), "If-None-Match", w.Header().Get("ETag"))
		if again.Code != http.StatusNotModified || again.Body.Len() != 0 {
			t.Errorf("with its own tag: %d and %d bytes", again.Code, again.Body.Len())
		}
	}
	if got := plain.Header().Get("Cache-Control"); !strings.Contains(got, "immutable") {
		t.Errorf("a hashed name is cached as %q", got)
	}
	if got := do(s, "GET", "/", "").Header().Get("Cache-Control"); got != "no-cache" {
		t.Errorf("the start page is cached as %q", got)
	}
	if w := do(s, "HEAD", "/", ""); w.Code != 200 {
		t.Errorf("HEAD / gives %d", w.Code)
	}
}

func TestHome(t *testing.T) {
	s := newTestServer(t, func(o *Options) { o.Record = "isobath record -- CMD" })
	home := get[frame.Home](t, do(s, "GET", "/api/v1/runs", ""), 200)
	if len(home.Runs) != 1 || !reflect.DeepEqual(home.Runs[0], frame.RunSummary{ID: "six", Name: "six.csv", Kind: "samples", Rows: 6, Parts: []string{"memory"}}) {
		t.Errorf("runs %+v", home.Runs)
	}
	if home.Version != "test" || home.Record == "" || home.UploadLimit != DefaultUploadLimit {
		t.Errorf("home %+v", home)
	}
	// Lists are never null: the page maps over them.
	if body := do(s, "GET", "/api/v1/runs/six", "").Body.String(); strings.Contains(strings.ReplaceAll(strings.ReplaceAll(body, `"min":null`, ""), `"max":null`, ""), ":null") {
		t.Errorf("null in %s", body)
	}
}

func TestInfo(t *testing.T) {
	s := newTestServer(t, nil)
	info := get[frame.Info](t, do(s, "GET", "/api/v1/runs/six", ""), 200)
	byName := map[string]frame.ColumnInfo{}
	for _, c := range info.Columns {
		byName[c.Name] = c
	}
	if names := slices.Sorted(maps.Keys(byName)); !slices.Equal(names, []string{"addr", "cpu", "file", "latency", "level", "line", "time"}) {
		t.Fatalf("columns %q", names)
	}
	for _, want := range []frame.ColumnInfo{
		{Name: "latency", Kind: "number", Unit: "cycles", Provenance: "measured", Title: "latency", Cost: 1, Axis: "usual", AxisPlace: 5, Distinct: 4, Missing: 1, Min: 10.0, Max: 400.0},
		{Name: "level", Kind: "category", Provenance: "measured", Title: "level", Head: "served by", Axis: "usual", AxisPlace: 6, Distinct: 3, Missing: 1},
		{Name: "addr", Kind: "address", Provenance: "measured", Title: "data address", Head: "data address", Axis: "spare", AxisPlace: 16, Distinct: 6, Min: "0x1000", Max: "0xffffffffffffffff"},
	} {
		if got := byName[want.Name]; got != want {
			t.Errorf("column %+v, want %+v", got, want)
		}
	}
	if info.Topology == nil || info.Topology.Resources[0].Type != "Machine" || info.Topology.Resources[0].Parent != -1 {
		t.Fatalf("topology %+v", info.Topology)
	}
	for i, r := range info.Topology.Resources[1:] {
		if r.Parent > i && !r.Virtual {
			t.Errorf("%s comes before its parent", r.Name)
		}
	}
}

func TestCloseRun(t *testing.T) {
	s := newTestServer(t, nil)
	closed := 0
	s.Add(&frame.Run{ID: "x", Name: "x", Release: func() error { closed++; return nil }})
	if w := do(s, "DELETE", "/api/v1/runs/x", ""); w.Code != 204 || closed != 1 {
		t.Errorf("status %d, closed %d times", w.Code, closed)
	}
	if w := do(s, "GET", "/api/v1/runs/x", ""); w.Code != 404 {
		t.Errorf("a closed run answers %d", w.Code)
	}
	s.Add(&frame.Run{ID: "y", Release: func() error { closed++; return nil }})
	s.Add(&frame.Run{ID: "y", Release: func() error { closed++; return nil }})
	if closed != 2 {
		t.Errorf("a run of the same content leaves the old one open: closed %d", closed)
	}
}

func TestShared(t *testing.T) {
	s := newTestServer(t, func(o *Options) { o.Shared = true })
	for _, r := range [][3]string{
		{"POST", "/api/v1/open", `{"path":"/etc/passwd"}`},
		{"POST", "/api/v1/upload?name=x.csv", "file\n/etc/passwd\n"},
		{"POST", "/api/v1/runs/six/sources", `{"folder":"/etc"}`},
		{"DELETE", "/api/v1/runs/six", ""},
	} {
		if f := get[frame.Failure](t, do(s, r[0], r[1], r[2]), 403); !strings.Contains(f.Error, "shared") {
			t.Errorf("%s %s: %+v", r[0], r[1], f)
		}
	}
	if home := get[frame.Home](t, do(s, "GET", "/api/v1/runs", ""), 200); !home.Shared || len(home.Runs) != 1 {
		t.Errorf("%+v", home)
	}
	get[[]frame.NamedSelection](t, do(s, "GET", "/api/v1/runs/six/selections", ""), 200)
}

func TestSelections(t *testing.T) {
	s := newTestServer(t, nil)
	var saved []frame.NamedSelection
	s.runs[0].Save = func(l []frame.NamedSelection) error { saved = l; return nil }
	const path = "/api/v1/runs/six/selections"
	body := `[{"name":"slow","where":"latency > 100"}]`
	got := get[[]frame.NamedSelection](t, do(s, "PUT", path, body), 200)
	if len(got) != 1 || got[0].Where != "latency > 100" || len(saved) != 1 {
		t.Errorf("kept %+v, saved %+v", got, saved)
	}
	f := get[frame.Failure](t, do(s, "PUT", path, `[{"name":"bad","where":"latancy > 1"}]`), 400)
	if !strings.Contains(f.Error, "latency") || f.Field != "where" {
		t.Errorf("failure %+v", f)
	}
	get[frame.Failure](t, do(s, "PUT", path, `[{"where":"latency > 1"}]`), 400)
	get[frame.Failure](t, do(s, "PUT", path, `[{"name":"a","where":""},{"name":"a","where":""}]`), 400)
	if now := get[[]frame.NamedSelection](t, do(s, "GET", path, ""), 200); len(now) != 1 {
		t.Errorf("after refused changes: %+v", now)
	}
}

// TestCloseWaitsWithoutItsLock: a request under way may ask for other runs while
// Close waits for it; with the lock held both would wait for ever.
func TestCloseWaitsWithoutItsLock(t *testing.T) {
	s := newTestServer(t, nil)
	_, release, err := s.hold("six")
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		for { // until Close has begun
			_, other, err := s.hold("six")
			if err != nil {
				return
			}
			other()
			runtime.Gosched()
		}
	}()
	select {
	case <-asked:
	case <-time.After(30 * time.Second):
		t.Fatal("a request waits for Close, which waits for it")
	}
	select {
	case err := <-closed:
		t.Fatalf("closed while a request uses a run: %v", err)
	default:
	}
	release()
	if err := <-closed; err != nil {
		t.Error(err)
	}
}
