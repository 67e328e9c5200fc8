package record

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/isobath/isobath/internal/record/sampler"
)

// place is how many bytes a file takes on the disk.
func place(t *testing.T, name string) int64 {
	t.Helper()
	var st syscall.Stat_t
	if err := syscall.Stat(name, &st); err != nil {
		t.Fatal(err)
	}
	return st.Blocks * 512
}

// A recording that keeps its end takes no more place however long it is, and can
// be opened at any moment: it then has the end, and the losses of that time.
func TestKeepLast(t *testing.T) {
	c, dir := journaled(t)
	span, step := 2*time.Second, time.Millisecond
	if err := c.journal.keepLast(span); err != nil {
		t.Skip(err) // the folder for temporary files is on such a file system
	}
	c.about.Last = span
	// The head was written before, without the span.
	if err := os.Truncate(filepath.Join(dir, eventsFile), 0); err != nil {
		t.Fatal(err)
	}
	c.journal.events.w.Reset(c.journal.events)
	c.journal.line(c.about)
	clock := uint64(c.about.Started.UnixNano() - c.about.Clock)
	most := int64(0)
	const seconds = 40
	for i := range seconds * 1000 {
		clock += uint64(step)
		c.keep(&row{time: clock, pid: 5, tid: 5, ip: 0x400000})
		if i%10 == 0 {
			c.touched(&touch{time: clock, pid: 5, addr: uint64(i) << pageBits})
		}
		if i%1000 == 500 {
			c.Loss(&sampler.Loss{Time: clock, Records: 1})
		}
		if i%100 == 99 {
			c.Drained()
			most = max(most, place(t, filepath.Join(dir, rowsFile)))
		}
	}
	perSecond := int64(len(bytesOf(&row{}))) * 1000
	if limit := 3*perSecond + laneReserve + 2*laneBuffer; most > limit {
		t.Errorf("the rows of %v took up to %d bytes, more than %d; all of them are %d", span, most, limit, seconds*perSecond)
	}
	if n := len(c.losses); n > 5 {
		t.Errorf("%d losses are held", n)
	}
	r, err := Recover(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	d := r.Recording
	if d.Samples != 2001 || d.Touches != 200 || d.Lost != 2 || d.Last == nil || d.Last.Asked != 2 || d.Last.To-d.Last.From != 2 || d.Last.To < seconds-0.1 || d.Last.To > seconds+0.1 {
		t.Errorf("%+v, last %+v", d, d.Last)
	}
	samples := r.Table("samples")
	if at := samples.Column("time"); at.Base+uint64(at.Float(0)) != clock-uint64(span) {
		t.Errorf("the first sample is of %d, the last of %d", at.Base, clock)
	}
}

// A recording that is shorter than what is kept is kept whole.
func TestKeepLastShort(t *testing.T) {
	c, _ := journaled(t)
	if err := c.journal.keepLast(time.Hour); err != nil {
		t.Skip(err)
	}
	began := uint64(c.about.Started.UnixNano() - c.about.Clock)
	for i := range uint64(50) {
		c.keep(&row{time: began + i*1e6})
		c.Drained()
	}
	if _, err := c.load(); err != nil {
		t.Fatal(err)
	}
	got := c.last.describe(&sampler.Outcome{Started: c.about.Started, ClockOffset: c.about.Clock})
	if len(c.rows) != 50 || got.From != 0 || got.To != 0.049 {
		t.Errorf("%d rows, %+v", len(c.rows), got)
	}
}
