package server

import (
	"crypto/sha256"
	"encoding/base64"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/isobath/isobath/internal/app/server/frame"
)

// assets serves the page's files from memory, compressed once.
type assets struct {
	files fs.FS
	index string

	mu    sync.Mutex
	ready map[string]*asset
}

type asset struct {
	kind   string
	etag   string
	plain  []byte
	packed []packing // the smallest first; none if packing does not help
}

// packing is a file as it is sent to clients that unpack it.
type packing struct {
	encoding, mark string // the mark tells its tag from those of others
	body           []byte
}

func newAssets(files fs.FS, index string) *assets {
	return &assets{files: files, index: index, ready: map[string]*asset{}}
}

func (a *assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.Error(w, "The page can only be read.", http.StatusMethodNotAllowed)
		return
	}
	name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
	if name == "" || name == "index.html" {
		name = a.index
	}
	f, err := a.load(name)
	if err != nil {
		http.Error(w, "There is no "+r.URL.Path+" here. The page is at /.", http.StatusNotFound)
		return
	}
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Vary", "Accept-Encoding")
	// Names below assets/ hold a hash of their content; the others may change.
	if strings.HasPrefix(name, "assets/") {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	} else {
		h.Set("Cache-Control", "no-cache")
	}
	etag, body := `"`+f.etag+`"`, f.plain
	for _, p := range f.packed {
		if frame.Accepts(r, p.encoding) {
			// Another representation, so another strong tag.
			etag, body = `"`+f.etag+p.mark+`"`, p.body
			h.Set("Content-Encoding", p.encoding)
			break
		}
	}
	h.Set("ETag", etag)
	if matches(r.Header.Get("If-None-Match"), etag) {
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	frame.WriteBody(w, http.StatusOK, body)
}

// load reads and packs a file when it is first asked for. Files under
// development (--web-dir) change, so a tag is checked against the content.
func (a *assets) load(name string) (*asset, error) {
	plain, err := fs.ReadFile(a.files, name)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(plain)
	etag := base64.RawURLEncoding.EncodeToString(sum[:12])
	a.mu.Lock()
	defer a.mu.Unlock()
	if f := a.ready[name]; f != nil && f.etag == etag {
		return f, nil
	}
	f := &asset{kind: contentType(name), etag: etag, plain: plain}
	if packed := frame.Pack(plain, gzip.BestCompression); len(packed) < len(plain)*9/10 {
		f.packed = []packing{{"zstd", "-zs", packZstd(plain)}, {"gzip", "-gz", packed}}
	}
	a.ready[name] = f
	return f, nil
}

// packZstd takes 2.4 % off the page's code against gzip; current browsers unpack it.
func packZstd(plain []byte) []byte {
	z, _ := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1)) // the options are constants
	defer z.Close()
	return z.EncodeAll(plain, nil)
}

// contentType does not depend on the mime tables of the machine.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".json", ".map":
		return "application/json"
	}
	if t := mime.TypeByExtension(path.Ext(name)); t != "" {
		return t
	}
	return "application/octet-stream"
}

func matches(header, etag string) bool {
	for tag := range strings.SplitSeq(header, ",") {
		if tag = strings.TrimSpace(tag); tag == etag || tag == "*" || tag == "W/"+etag {
			return true
		}
	}
	return false
}
