package sampler

import (
	"encoding/binary"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/isobath/isobath/internal/code/perfevent"
)

// trailed returns a record as a ring holds it, with the trailer of newUnit's event.
func trailed(kind uint32, body []byte, time uint64, cpu uint32) []byte {
	le := binary.LittleEndian
	body = le.AppendUint32(le.AppendUint32(body, 9), 9)
	body = le.AppendUint64(body, time)
	body = le.AppendUint64(body, uint64(cpu))
	body = le.AppendUint64(body, 77) // identifier
	rec := le.AppendUint16(le.AppendUint16(le.AppendUint32(nil, kind), 0), uint16(8+len(body)))
	return append(rec, body...)
}

// A fork is dated twice by the kernel: when its record is begun, which is the time
// that all records have, and a little later in its own words. Between the two another
// CPU may have written something.
func TestForksAreInOrder(t *testing.T) {
	le := binary.LittleEndian
	var fork []byte
	for _, v := range []uint32{10, 9, 10, 9} { // process and thread, and those that made them
		fork = le.AppendUint32(fork, v)
	}
	fork = le.AppendUint64(fork, 224)
	comm := append(le.AppendUint32(le.AppendUint32(nil, 8), 8), "name\x00\x00\x00\x00"...)
	l := newLog(t)
	d := &drainer{sink: l, trailer: &newUnit(64).attr}
	records(trailed(perfevent.RecordFork, fork, 100, 0), d.add)
	records(trailed(perfevent.RecordComm, comm, 150, 1), d.add)
	d.flush(^uint64(0))
	if l.last != 150 || d.losses != (Losses{}) {
		t.Errorf("the last time is %d, want 150; %+v", l.last, d.losses)
	}
}

// The thread that looks at others has short slices, and no other share than before.
func TestSoon(t *testing.T) {
	runtime.LockOSThread() // for good: the thread ends with the test
	before, err := unix.SchedGetAttr(0, 0)
	if err != nil || before.Policy != unix.SCHED_NORMAL && before.Policy != unix.SCHED_BATCH {
		t.Skipf("another way of scheduling: %+v, %v", before, err)
	}
	if before.Runtime == 0 {
		t.Skip("this kernel has one length of slices for all (before 6.12)")
	}
	beSoon()
	after, err := unix.SchedGetAttr(0, 0)
	if err != nil || after.Runtime != uint64(shortest) || after.Policy != before.Policy || after.Nice != before.Nice {
		t.Errorf("%+v, %v; before %+v", after, err, before)
	}
}
