package sampler

import (
	"bytes"
	"sync/atomic"

	"github.com/isobath/isobath/internal/code/perfevent"
	"github.com/isobath/isobath/internal/code/spe"
	"github.com/isobath/isobath/internal/record/pmu"
)

// piece is what a unit wrote into its area while one thread ran. The kernel ends
// a piece when the thread leaves the CPU or the area is half full, and says so
// in a record that names the thread: nothing else is needed to know whose
// packets they are.
type piece struct {
	data     []byte
	time     uint64 // when the piece ended
	pid, tid uint32
	cpu      uint32
}

// takeAux copies the pieces that the records announce out of the area and gives
// their room back.
func (r *ring) takeAux(found []byte, trailer *perfevent.Attr, losses *auxLosses) []piece {
	var out []piece
	records(found, func(h perfevent.Header, body []byte) {
		if h.Type != perfevent.RecordAux {
			return
		}
		own, tr, ok := trailer.ParseTrailer(body)
		a, whole := perfevent.ParseAux(h, own)
		if !ok || !whole || a.Size > uint64(len(r.aux)) {
			losses.damaged++
			return
		}
		if a.Flags&auxIncomplete != 0 || a.Offset != r.auxTail {
			losses.truncated++ // the area was full, or the record of a piece was lost
		}
		r.auxTail = a.Offset + a.Size
		if a.Size > 0 {
			out = append(out, piece{data: r.slice(a.Offset, a.Size), time: tr.Time, pid: tr.PID, tid: tr.TID, cpu: tr.CPU})
		}
	})
	if len(r.aux) > 0 {
		atomic.StoreUint64(&r.page.Aux_tail, r.auxTail)
	}
	return out
}

// slice copies bytes out of the area, which wrap at its end.
func (r *ring) slice(offset, n uint64) []byte {
	size := uint64(len(r.aux))
	from := offset & (size - 1)
	first := min(n, size-from)
	return append(bytes.Clone(r.aux[from:from+first]), r.aux[:n-first]...)
}

// auxIncomplete are the flags of a piece after which something is missing:
// PERF_AUX_FLAG_TRUNCATED, _PARTIAL and _COLLISION.
const auxIncomplete = perfevent.AuxTruncated | 4 | 8

// auxLosses count what the draining goroutine finds missing.
type auxLosses struct{ truncated, damaged uint64 }

// operations decodes pieces. A record never continues in another piece: the unit
// stands still in between.
func (d *drainer) operations(pieces []piece, clock tickClock) {
	for _, p := range pieces {
		var dec spe.Decoder
		o := Operation{PID: p.pid, TID: p.tid, CPU: p.cpu}
		dec.Decode(p.data, func(r *spe.Record) {
			o.Record, o.Time = r, p.time
			if r.Has&spe.HasTime != 0 && clock.hz > 0 {
				o.Time = min(clock.time(r.Time), p.time)
			}
			d.sink.Operation(d.auxEvent, &o)
		})
		d.losses.Damaged += uint64(dec.Bad)
	}
}

// tickClock turns readings of the machine's counter into the clock of samples:
// both were read at one moment.
type tickClock struct{ ticks, nano, hz uint64 }

func (c tickClock) time(ticks uint64) uint64 {
	ahead := int64(ticks - c.ticks)
	hz := int64(c.hz)
	return c.nano + uint64(ahead/hz*1e9+ahead%hz*1e9/hz)
}

// auxEvent is the event whose unit has an area of its own; nil if none has.
func auxEvent(events []pmu.Event) *pmu.Event {
	for i := range events {
		if events[i].Aux {
			return &events[i]
		}
	}
	return nil
}
