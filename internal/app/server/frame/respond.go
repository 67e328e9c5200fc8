package frame

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// compressFrom is the size from which answers are compressed: below it the
// round trip costs more than the bytes.
const compressFrom = 16 << 10

// Answer sends a message.
func (f *Frame) Answer(w http.ResponseWriter, r *http.Request, message any) error {
	return f.AnswerStatus(w, r, http.StatusOK, message)
}

// AnswerStatus is Answer with another status than 200.
func (f *Frame) AnswerStatus(w http.ResponseWriter, r *http.Request, status int, message any) error {
	body, err := json.Marshal(message)
	if err != nil {
		return err
	}
	f.answerBytes(w, r, status, TypeJSON, body)
	return nil
}

// AnswerColumns sends a header and its columns.
func (f *Frame) AnswerColumns(w http.ResponseWriter, r *http.Request, head any, body *Body) error {
	message, err := body.Message(head)
	if err == nil {
		f.answerBytes(w, r, http.StatusOK, TypeColumns, message)
	}
	return err
}

// answerBytes writes a whole body, compressed where that helps.
func (f *Frame) answerBytes(w http.ResponseWriter, r *http.Request, status int, kind string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "no-store")
	if f.Compress && len(body) > compressFrom && AcceptsGzip(r) {
		h.Set("Content-Encoding", "gzip")
		body = Pack(body, gzip.BestSpeed)
	}
	WriteBody(w, status, body)
}

// WriteBody sends a whole body.
func WriteBody(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	defer within(w, len(body))()
	w.WriteHeader(status)
	w.Write(body) // an error means that the client has gone
}

// AcceptsGzip reports whether the client unpacks gzip.
func AcceptsGzip(r *http.Request) bool { return Accepts(r, "gzip") }

// Accepts reports whether the client unpacks an encoding.
func Accepts(r *http.Request, encoding string) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, q, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.EqualFold(name, encoding) {
			return strings.ReplaceAll(q, " ", "") != "q=0"
		}
	}
	return false
}
