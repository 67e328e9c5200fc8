package perfdata

import (
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/klauspost/compress/zstd"

	"github.com/isobath/isobath/internal/code/perfevent"
)

const (
	// maxUnzipped is what one compressed record may hold. perf compresses at
	// most one ring buffer at a time, 64 MiB at the very most.
	maxUnzipped = 128 << 20
	unzipPiece  = 256 << 10
	// The window is allocated as soon as the stream names it. Only the highest
	// levels take more than 32 MB, and they are not for small files.
	maxWindow  = 128 << 20
	freeWindow = 32 << 20
)

// windowOf is the largest window of the stream in a section of so many bytes.
func windowOf(size uint64) uint64 { return max(freeWindow, 4*min(size, maxWindow/4)) }

// unzipper decodes compressed records. The zstd stream runs through all of
// them without ever ending, so one decoder lives as long as the file and is
// fed record by record. It runs as a coroutine that yields what it has decoded,
// and nothing when it wants more input.
type unzipper struct {
	perfevent.Order
	window uint64 // the largest that the stream may have
	in     []byte
	next   func() ([]byte, bool)
	stop   func()
	err    error
	carry  []byte // the beginning of a record whose rest has not come yet
}

// feed decodes the bytes of one record and delivers the records in them.
func (z *unzipper) feed(in []byte, at int64, v visitor) error {
	if z.next == nil {
		z.next, z.stop = iter.Pull(z.decode)
	}
	z.in = in
	var total int
	for {
		out, ok := z.next()
		if !ok {
			return fmt.Errorf("compressed record at byte %d: %w: %w", at, z.err, errDamaged)
		}
		if out == nil {
			return nil
		}
		if total += len(out); total > maxUnzipped {
			return fmt.Errorf("compressed record at byte %d holds more than %d bytes: %w", at, maxUnzipped, errDamaged)
		}
		if err := z.deliver(out, at, v); err != nil {
			return err
		}
	}
}

// feed2 handles the newer record, which says how many of its bytes count.
func (z *unzipper) feed2(r record, v visitor) error {
	body := r.b[perfevent.HeaderSize:]
	if len(body) < 8 || z.U64(body) > uint64(len(body)-8) {
		return fmt.Errorf("compressed record at byte %d is shorter than it says: %w", r.at, errDamaged)
	}
	return z.feed(body[8:8+z.U64(body)], r.at, v)
}

// decode is the coroutine.
func (z *unzipper) decode(yield func([]byte) bool) {
	source := reader(func(p []byte) (int, error) {
		for len(z.in) == 0 {
			if !yield(nil) {
				return 0, errStopped
			}
		}
		n := copy(p, z.in)
		z.in = z.in[n:]
		return n, nil
	})
	d, err := zstd.NewReader(source, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(z.window))
	if err != nil {
		z.err = err
		return
	}
	defer d.Close()
	out := make([]byte, unzipPiece)
	for {
		n, err := d.Read(out)
		if n > 0 && !yield(out[:n]) {
			return
		}
		if err != nil {
			if z.err = err; err == io.EOF {
				z.err = errors.New("the compressed stream ends early")
			}
			return
		}
	}
}

var errStopped = errors.New("stopped")

type reader func([]byte) (int, error)

func (r reader) Read(p []byte) (int, error) { return r(p) }

// deliver cuts decoded bytes into records. They may be cut anywhere.
func (z *unzipper) deliver(b []byte, at int64, v visitor) error {
	if len(z.carry) > 0 {
		z.carry = append(z.carry, b...)
		b = z.carry
	}
	for len(b) >= perfevent.HeaderSize {
		size := int(z.U16(b[6:]))
		if size < perfevent.HeaderSize || impossible(z.U32(b)) {
			return fmt.Errorf("the compressed record at byte %d holds what is not a record: %w", at, errDamaged)
		}
		if size > len(b) {
			break
		}
		r := record{typ: z.U32(b), misc: z.U16(b[4:]), b: b[:size:size], at: at}
		switch r.typ {
		case recCompressed, recCompressed2, recAuxtrace, recTracingData:
			return fmt.Errorf("the compressed record at byte %d holds a record of type %d, which is never compressed: %w", at, r.typ, errDamaged)
		}
		if err := v.record(r, nil); err != nil {
			return err
		}
		b = b[size:]
	}
	z.carry = append(z.carry[:0], b...)
	return nil
}

// rest is how many bytes of an unfinished record are left.
func (z *unzipper) rest() int { return len(z.carry) }

func (z *unzipper) close() {
	if z.stop != nil {
		z.stop()
	}
}
