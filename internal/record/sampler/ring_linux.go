package sampler

import (
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/isobath/isobath/internal/code/perfevent"
)

// ring is the buffer that the kernel writes the records of one CPU into.
type ring struct {
	cpu  int
	fd   int
	page *unix.PerfEventMmapPage
	area []byte // the whole mapping
	data []byte // the part that holds records; its length is a power of two

	// aux is the area that a unit fills by itself; its length is a power of two
	// too. auxTail is where the next piece should begin.
	aux     []byte
	auxTail uint64
}

// ringSizes are tried from the largest: a user without privileges may lock
// perf_event_mlock_kb (516) a CPU. The second is the unit's own area.
var ringSizes = [][2]int{{2 << 20, 1 << 20}, {1 << 20, 512 << 10}, {512 << 10, 512 << 10}, {256 << 10, 128 << 10}, {128 << 10, 64 << 10}, {32 << 10, 64 << 10}}

// touchSizes are those of the rings of page faults. In smaller ones we would be
// woken too late; then samples and faults share a ring.
var touchSizes = [][2]int{{1 << 20, 0}, {512 << 10, 0}, {256 << 10, 0}, {128 << 10, 0}}

// openRing maps a buffer for the event, and the area of a unit that has one.
// Smaller ones are tried where the system does not lock large ones.
func openRing(fd, cpu int, aux bool, sizes [][2]int) (*ring, error) {
	page := os.Getpagesize()
	var err error
	for _, size := range sizes {
		var area []byte
		area, err = unix.Mmap(fd, 0, page+size[0], unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err == nil {
			r := &ring{cpu: cpu, fd: fd, area: area, data: area[page:], page: (*unix.PerfEventMmapPage)(unsafe.Pointer(&area[0]))}
			if !aux {
				return r, nil
			}
			if err = r.mapAux(size[1]); err == nil {
				return r, nil
			}
			r.close()
		}
		if err != unix.EPERM && err != unix.ENOMEM {
			break
		}
	}
	return nil, fmt.Errorf("map a ring buffer for CPU %d: %w; kernel.perf_event_mlock_kb may be too small", cpu, err)
}

// mapAux maps the unit's area behind the ring. Being writable, it tells the
// kernel to stop the unit rather than to overwrite what was not taken out.
func (r *ring) mapAux(size int) error {
	size = max(size, 2*os.Getpagesize())
	atomic.StoreUint64(&r.page.Aux_offset, uint64(len(r.area)))
	atomic.StoreUint64(&r.page.Aux_size, uint64(size))
	aux, err := unix.Mmap(r.fd, int64(len(r.area)), size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	r.aux = aux
	return err
}

func (r *ring) close() {
	if r.aux != nil {
		_ = unix.Munmap(r.aux)
	}
	_ = unix.Munmap(r.area)
}

// drain appends what the kernel has written since the last call to buf, and
// gives the room back.
func (r *ring) drain(buf []byte) []byte {
	head := atomic.LoadUint64(&r.page.Data_head)
	tail := r.page.Data_tail
	n := head - tail
	if n == 0 {
		return buf
	}
	size := uint64(len(r.data))
	from := tail & (size - 1)
	first := min(n, size-from)
	buf = append(buf, r.data[from:from+first]...)
	buf = append(buf, r.data[:n-first]...)
	atomic.StoreUint64(&r.page.Data_tail, head)
	return buf
}

// records yields the records in drained bytes.
func records(b []byte, yield func(perfevent.Header, []byte)) {
	for len(b) >= perfevent.HeaderSize {
		h := perfevent.ParseHeader(b)
		if int(h.Size) < perfevent.HeaderSize || int(h.Size) > len(b) {
			return // cannot happen: the kernel writes whole records
		}
		yield(h, b[perfevent.HeaderSize:h.Size])
		b = b[h.Size:]
	}
}
