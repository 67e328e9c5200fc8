// Package link lets mesh viewers such as ParaView and VisIt show Isobath's
// fields on their own copy of the mesh, and pick cells in return. The protocol
// is JSON lines with raw arrays over TCP or WebSocket; docs/formats.md
// describes it.
package link

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/isobath/isobath/internal/base/budget"
)

// protocolVersion is the version of the protocol.
const protocolVersion = 1

// Limits of a frame. They are told to clients in welcome.
const (
	maxHeader = 64 << 10
	maxBytes  = 256 << 20
	maxArrays = 64
)

// array describes one array of a frame's payload.
type array struct {
	Name  string `json:"name"`
	DType string `json:"dtype"` // NumPy's name; always little-endian
	Shape []int  `json:"shape"`
	Bytes int    `json:"bytes"`

	data []byte
}

// request is a frame from a client. Unknown fields are ignored.
type request struct {
	Type    string                 `json:"type"`
	ID      int64                  `json:"id"`
	Re      int64                  `json:"re"`
	Proto   int                    `json:"proto"`
	Client  string                 `json:"client"`
	Token   string                 `json:"token"`
	Mesh    string                 `json:"mesh"`
	Domain  int                    `json:"domain"`
	Level   int                    `json:"level"`
	Cells   int                    `json:"cells"`
	Boxes   string                 `json:"boxes"`
	What    []string               `json:"what"`
	Op      string                 `json:"op"`
	Ranges  map[string]*[2]*number `json:"ranges"`
	Where   *string                `json:"where"`
	Mode    string                 `json:"mode"`
	Variant string                 `json:"variant"`
	From    *int64                 `json:"from"`
	Iter    *int64                 `json:"iteration"`
	Fields  []string               `json:"fields"`
	Empty   string                 `json:"empty"`
	By      string                 `json:"by"`
	Top     int                    `json:"top"`
	Bytes   int64                  `json:"bytes"`
	Arrays  []array                `json:"arrays"`

	claim *budget.Claim // of the payload
}

// payloadFactor is what a payload takes beside itself: the buffer it grows in,
// and the numbers made of it.
const payloadFactor = 3

// number is a finite JSON number.
type number float64

// fault is an error that goes to the client with one of the protocol's codes.
type fault struct{ code, message string }

func (f *fault) Error() string { return f.message }

func faultf(code, format string, args ...any) error {
	return &fault{code, fmt.Sprintf(format, args...)}
}

// errClose ends a connection without an answer.
var errClose = errors.New("connection closed")

// parseHeader decodes a header line and checks its sizes before anything is
// allocated for the payload.
func parseHeader(line []byte) (*request, error) {
	r := &request{}
	if err := json.Unmarshal(line, r); err != nil {
		return nil, faultf("bad_frame", "header is not a JSON object: %v", err)
	}
	if r.Bytes < 0 || r.Bytes > maxBytes {
		return nil, faultf("too_large", "payload of %d bytes; at most %d are taken", r.Bytes, maxBytes)
	}
	if len(r.Arrays) > maxArrays {
		return nil, faultf("bad_frame", "%d arrays; at most %d are taken", len(r.Arrays), maxArrays)
	}
	sum := int64(0)
	for _, a := range r.Arrays {
		if a.Bytes < 0 || int64(a.Bytes) > r.Bytes {
			return nil, faultf("bad_frame", "array %q has %d bytes", a.Name, a.Bytes)
		}
		sum += int64(a.Bytes)
	}
	if sum != r.Bytes {
		return nil, faultf("bad_frame", "arrays of %d bytes in a payload of %d", sum, r.Bytes)
	}
	return r, nil
}

// split hands the payload out to the arrays.
func (r *request) split(payload []byte) {
	for i := range r.Arrays {
		r.Arrays[i].data = payload[:r.Arrays[i].Bytes]
		payload = payload[r.Arrays[i].Bytes:]
	}
}

// readFrame reads a frame from a byte stream, with a payload of at most so many
// bytes, whose memory is claimed until the request is answered.
func readFrame(ctx context.Context, br *bufio.Reader, most int64) (*request, error) {
	line, err := readLine(br)
	if err != nil {
		return nil, err
	}
	r, err := parseHeader(line)
	if err != nil {
		return nil, err
	}
	if r.Bytes > most {
		return nil, faultf("too_large", "payload of %d bytes; at most %d are taken here", r.Bytes, most)
	}
	if r.claim, err = budget.Take(ctx, "the payload needs", payloadFactor*r.Bytes); err != nil {
		return nil, faultf("too_large", "%v", err)
	}
	payload, err := readPayload(br, r.Bytes)
	if err != nil {
		r.claim.Release()
		return nil, err
	}
	r.split(payload)
	return r, nil
}

// readPayload grows with what arrives: a claimed size alone takes no memory.
func readPayload(r io.Reader, n int64) ([]byte, error) {
	var b bytes.Buffer
	if _, err := io.CopyN(&b, r, n); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func readLine(br *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := br.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxHeader {
			return nil, faultf("bad_frame", "header longer than %d bytes", maxHeader)
		}
		if err == nil {
			return line, nil
		}
		if err != bufio.ErrBufferFull {
			return nil, err
		}
	}
}

// readMessage reads a frame from one WebSocket message, in which a header alone
// may lack its end of line.
func readMessage(ctx context.Context, message io.Reader, most int64) (*request, error) {
	br := bufio.NewReader(io.MultiReader(message, strings.NewReader("\n")))
	r, err := readFrame(ctx, br, most)
	if err != nil {
		return nil, err
	}
	if rest, err := io.ReadAll(io.LimitReader(br, 2)); err != nil || len(rest) > 1 {
		r.claim.Release()
		return nil, faultf("bad_frame", "the payload is longer than the %d bytes that the header says", r.Bytes)
	}
	return r, nil
}

// reply is a frame to a client: a header and arrays.
type reply struct {
	header map[string]any
	arrays []array
	claim  *budget.Claim // of the arrays; nil: they are small
}

func (p *reply) encode() ([]byte, error) {
	total := 0
	for _, a := range p.arrays {
		total += a.Bytes
	}
	if total > 0 {
		p.header["bytes"], p.header["arrays"] = total, p.arrays
	}
	line, err := json.Marshal(p.header)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(line)+1+total)
	out = append(append(out, line...), '\n')
	for _, a := range p.arrays {
		out = append(out, a.data...)
	}
	return out, nil
}

// exact32 is the largest whole number up to which single precision is exact.
const exact32 = 1 << 24

// floats makes an array of single precision; of double when a value is so large
// that it would lose units.
func floats(name string, values []float64) array {
	for _, v := range values {
		if math.Abs(v) > exact32 {
			return pack(name, "<f8", len(values), 8, func(b []byte, i int) {
				binary.LittleEndian.PutUint64(b, math.Float64bits(values[i]))
			})
		}
	}
	return pack(name, "<f4", len(values), 4, func(b []byte, i int) {
		binary.LittleEndian.PutUint32(b, math.Float32bits(float32(values[i])))
	})
}

func counts(name string, values []uint32) array {
	return pack(name, "<u4", len(values), 4, func(b []byte, i int) { binary.LittleEndian.PutUint32(b, values[i]) })
}

func pack(name, dtype string, n, size int, put func(b []byte, i int)) array {
	a := array{Name: name, DType: dtype, Shape: []int{n}, Bytes: n * size, data: make([]byte, n*size)}
	for i := range n {
		put(a.data[i*size:], i)
	}
	return a
}

// cellList reads an array of cell numbers.
func (a *array) cellList() ([]uint32, error) {
	if a.DType != "<u4" || len(a.data)%4 != 0 {
		return nil, faultf("bad_frame", "cells as %q; want <u4", a.DType)
	}
	out := make([]uint32, len(a.data)/4)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(a.data[4*i:])
	}
	return out, nil
}
