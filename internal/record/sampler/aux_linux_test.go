package sampler

import (
	"context"
	"encoding/binary"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/isobath/isobath/internal/code/perfevent"
	"github.com/isobath/isobath/internal/code/spe/packets"
	"github.com/isobath/isobath/internal/record/pmu"
)

// unit plays the kernel and a unit that fills an area of its own, with a ring
// that is not mapped from the kernel.
type unit struct {
	*ring
	head uint64 // of the area
	attr perfevent.Attr
}

func newUnit(area int) *unit {
	a := perfevent.Attr{Flags: perfevent.FlagSampleIDAll,
		SampleType: perfevent.SampleIdentifier | perfevent.SampleIP | perfevent.SampleTID | perfevent.SampleTime | perfevent.SampleCPU}
	return &unit{ring: &ring{page: &unix.PerfEventMmapPage{}, data: make([]byte, 512), aux: make([]byte, area)}, attr: a}
}

// write puts packets into the area.
func (u *unit) write(b []byte) {
	for i, c := range b {
		u.aux[(u.head+uint64(i))%uint64(len(u.aux))] = c
	}
	u.head += uint64(len(b))
}

// announce writes the record of a piece into the ring.
func (u *unit) announce(offset, size, flags uint64, pid, tid uint32, time uint64, cpu uint32) {
	le := binary.LittleEndian
	body := le.AppendUint64(le.AppendUint64(le.AppendUint64(nil, offset), size), flags)
	body = le.AppendUint32(le.AppendUint32(body, pid), tid)
	body = le.AppendUint64(body, time)
	body = le.AppendUint64(body, uint64(cpu))
	body = le.AppendUint64(body, 77) // identifier
	rec := le.AppendUint32(nil, perfevent.RecordAux)
	rec = le.AppendUint16(le.AppendUint16(rec, 0), uint16(8+len(body)))
	for i, c := range append(rec, body...) {
		u.data[(u.page.Data_head+uint64(i))%uint64(len(u.data))] = c
	}
	u.page.Data_head += uint64(8 + len(body))
}

// piece writes packets and announces them.
func (u *unit) piece(b []byte, tid uint32, time uint64) {
	from := u.head
	u.write(b)
	u.announce(from, uint64(len(b)), 0, 9, tid, time, 3)
}

// drained empties the ring the way the recorder does, and returns what the sink
// got and what is missing.
func (u *unit) drained(t *testing.T, clock tickClock) ([]Operation, Losses) {
	t.Helper()
	l := newLog(t)
	d := &drainer{sink: l, trailer: &u.attr, auxEvent: &pmu.Event{Aux: true}}
	pieces := u.takeAux(u.drain(nil), d.trailer, &d.aux)
	d.operations(pieces, clock)
	d.losses.Truncated, d.losses.Damaged = d.aux.truncated, d.losses.Damaged+d.aux.damaged
	return l.operations, d.losses
}

func TestAuxArea(t *testing.T) {
	load, branch := packets.Bytes(packets.Load), packets.Bytes(packets.Branch)
	const second = 1_000_000_000
	clock := tickClock{ticks: 44731163950 + 50, nano: 10 * second, hz: 25_000_000} // 40 ns a tick
	u := newUnit(256)
	// Whole rounds of the area and of the ring: everything wraps at some time.
	for i := range 20 {
		u.piece(append(slices.Clone(load), branch...), uint32(100+i), 20*second)
		got, lost := u.drained(t, clock)
		if len(got) != 2 || lost != (Losses{}) {
			t.Fatalf("piece %d: %+v, %+v", i, got, lost)
		}
		o := got[0]
		if o.PID != 9 || o.TID != uint32(100+i) || o.CPU != 3 || o.Time != 10*second-50*40 {
			t.Errorf("piece %d: %+v", i, o)
		}
		if u.page.Aux_tail != u.head {
			t.Errorf("piece %d: %d bytes are not given back", i, u.head-u.page.Aux_tail)
		}
	}
	// Without a counter the end of the piece is the time.
	u.piece(load, 5, 7*second)
	if got, _ := u.drained(t, tickClock{}); len(got) != 1 || got[0].Time != 7*second || got[0].Record == nil {
		t.Errorf("without a counter: %+v", got)
	}
}

// What is missing is counted, and what is there is still read.
func TestAuxLosses(t *testing.T) {
	load := packets.Bytes(packets.Load)
	n := uint64(len(load))
	for _, tt := range []struct {
		name string
		do   func(u *unit)
		rows int
		want Losses
	}{
		{"area full", func(u *unit) { u.write(load); u.announce(0, n, perfevent.AuxTruncated, 1, 1, 1, 0) }, 1, Losses{Truncated: 1}},
		{"nothing but the flag", func(u *unit) { u.announce(0, 0, perfevent.AuxTruncated, 1, 1, 1, 0) }, 0, Losses{Truncated: 1}},
		{"lost record of a piece", func(u *unit) { u.write(load); u.piece(load, 1, 1) }, 1, Losses{Truncated: 1}},
		{"two pieces, the first cut", func(u *unit) {
			u.piece(load[:20], 1, 1)
			u.piece(load, 2, 2)
		}, 1, Losses{}},
		{"longer than the area", func(u *unit) { u.announce(0, 1<<40, 0, 1, 1, 1, 0) }, 0, Losses{Damaged: 1}},
		{"no packets", func(u *unit) { u.piece([]byte{0xab, 0xef, 0xff}, 1, 1) }, 0, Losses{Damaged: 3}},
	} {
		u := newUnit(256)
		tt.do(u)
		got, lost := u.drained(t, tickClock{})
		if len(got) != tt.rows || lost != tt.want {
			t.Errorf("%s: %d rows, %+v; want %d, %+v", tt.name, len(got), lost, tt.rows, tt.want)
		}
	}
}

// The kernel gives no area to an event whose unit has none, and says so.
func TestAuxRefused(t *testing.T) {
	opt := options(2000, "true")
	opt.Plans[0].Events[0].Aux = true
	if _, err := Record(context.Background(), opt, newLog(t)); err == nil || !strings.Contains(err.Error(), "ring buffer") && !strings.Contains(err.Error(), "permitted") {
		t.Errorf("error = %v", err)
	}
}

func TestCounter(t *testing.T) {
	hz := counterFrequency()
	if hz == 0 {
		t.Skip("only ARM's unit has a counter")
	}
	c := tickClock{ticks: counter(), nano: monotonic(), hz: hz}
	_, _ = os.ReadFile("/proc/self/maps")
	if a, now := c.time(counter()), monotonic(); a < c.nano || a > now+1_000_000 {
		t.Errorf("the counter says %d ns later, the clock %d", a-c.nano, now-c.nano)
	}
}

// FuzzAux reads arbitrary records and areas.
func FuzzAux(f *testing.F) {
	load := packets.Bytes(packets.Load)
	u := newUnit(256)
	u.piece(load, 1, 1)
	f.Add(slices.Clone(u.data[:u.page.Data_head]), u.aux)
	f.Fuzz(func(t *testing.T, recs, area []byte) {
		u := newUnit(256)
		copy(u.aux, area)
		d := &drainer{sink: newLog(t), trailer: &u.attr}
		d.operations(u.takeAux(recs, d.trailer, &d.aux), tickClock{hz: 1})
	})
}
