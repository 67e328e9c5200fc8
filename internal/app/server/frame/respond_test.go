package frame

import (
	"bytes"
	"io"
	"net/http/httptest"
	"testing"
)

func TestCompression(t *testing.T) {
	large := bytes.Repeat([]byte("isobath "), 4096)
	for _, tt := range []struct {
		name     string
		compress bool
		accept   string
		body     []byte
		want     string
	}{
		{"on", true, "gzip", large, "gzip"},
		{"off", false, "gzip", large, ""},
		{"small", true, "gzip", large[:compressFrom], ""},
		{"not accepted", true, "gzip;q=0, br", large, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := &Frame{Compress: tt.compress}
			r := httptest.NewRequest("GET", "/", nil)
			r.Header.Set("Accept-Encoding", tt.accept)
			w := httptest.NewRecorder()
			f.answerBytes(w, r, 200, "text/plain", tt.body)
			if got := w.Header().Get("Content-Encoding"); got != tt.want {
				t.Errorf("encoding %q, want %q", got, tt.want)
			}
			if n, _ := io.Copy(io.Discard, w.Body); tt.want != "" && n > int64(len(tt.body))/4 {
				t.Errorf("%d bytes of %d", n, len(tt.body))
			}
		})
	}
}
