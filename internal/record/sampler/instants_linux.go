package sampler

import (
	"encoding/binary"

	"github.com/isobath/isobath/internal/code/perfevent"
	"github.com/isobath/isobath/internal/record/pmu"
)

// sampleBody is a sample where it was copied to.
type sampleBody struct {
	event *pmu.Event
	body  []byte
}

// Places in the body of a sample of the timer: see pmu.TimerPlan.
const (
	bodyIP   = 8
	bodyTime = 24
	bodyHead = 32
)

// look hands the newest sample of each thread to whoever looks at threads. Those
// before it are too old.
func (d *drainer) look(fresh []byte) {
	records(fresh, func(h perfevent.Header, body []byte) {
		switch h.Type {
		case perfevent.RecordFork:
			if own, _, ok := d.trailer.ParseTrailer(body); ok {
				if t, ok := perfevent.ParseTask(h, own); ok && t.PID != t.PPID {
					d.instants.Exec(t.PID)
				}
			}
		case perfevent.RecordComm:
			if own, _, ok := d.trailer.ParseTrailer(body); ok {
				if c, ok := perfevent.ParseComm(h, own); ok && c.Exec {
					d.instants.Exec(c.PID)
				}
			}
		case perfevent.RecordSample:
			if len(body) < bodyHead {
				return
			}
			e := d.s.byID[binary.LittleEndian.Uint64(body)]
			if e != nil && e.Use == pmu.Timer && e.Attr.SampleType&perfevent.SampleStackUser != 0 && binary.LittleEndian.Uint64(body[bodyIP:])>>63 == 0 {
				tid := binary.LittleEndian.Uint32(body[20:])
				if _, before := d.latestOf[tid]; before {
					d.instants.Passed(binary.LittleEndian.Uint32(body[16:]))
				}
				d.latestOf[tid] = sampleBody{e, body}
			}
		}
	})
	for tid, s := range d.latestOf {
		d.take(s.event, s.body)
		delete(d.latestOf, tid)
	}
}

// take writes another moment of its thread over a sample.
func (d *drainer) take(e *pmu.Event, body []byte) {
	var s perfevent.Sample
	if e.Attr.Decode(body, &s) != nil || s.RegsUser.ABI != perfevent.ABI64 || cap(s.StackUser) == 0 {
		return
	}
	s.StackUser = s.StackUser[:cap(s.StackUser)]
	ip, time, stack, ok := d.instants.Take(&s)
	if !ok {
		return
	}
	binary.LittleEndian.PutUint64(body[bodyIP:], ip)
	binary.LittleEndian.PutUint64(body[bodyTime:], time)
	// The stack is what the timer's samples end with, and how much of it there is.
	binary.LittleEndian.PutUint64(body[len(body)-8:], uint64(stack))
}
