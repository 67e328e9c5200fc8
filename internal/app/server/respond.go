package server

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// compressFrom is the size from which answers are compressed: below it the
// round trip costs more than the bytes.
const compressFrom = 16 << 10

// answerBytes writes a whole body, compressed where that helps.
func (s *Server) answerBytes(w http.ResponseWriter, r *http.Request, status int, kind string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "no-store")
	if s.opt.Compress && len(body) > compressFrom && acceptsGzip(r) {
		h.Set("Content-Encoding", "gzip")
		body = pack(body, gzip.BestSpeed)
	}
	writeBody(w, status, body)
}

func writeBody(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	w.Write(body) // an error means that the client has gone
}

func acceptsGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, q, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.EqualFold(name, "gzip") {
			return strings.ReplaceAll(q, " ", "") != "q=0"
		}
	}
	return false
}
