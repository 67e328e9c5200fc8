package record

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/isobath/isobath/internal/code/perfevent"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/record/sampler"
)

// Unfinished is added to the name of a run while it is recorded. The folder of
// that name has what is known so far, so that a recorder that is killed leaves
// all but the last moment.
const Unfinished = ".part"

// Files of an unfinished recording: the first has a line of JSON for its head and
// each event, the others rows and touches as they are in memory.
const (
	eventsFile  = "events"
	rowsFile    = "rows"
	touchesFile = "touches"
)

// journalVersion counts changes of the lines of events; layout those of the rest.
const journalVersion = 4

// head is the first line: what is known before the program runs.
type head struct {
	Version   int               `json:"version"`
	Layout    uint32            `json:"layout"`
	Recorder  int               `json:"recorder"` // its process
	Command   []string          `json:"command"`
	PID       int               `json:"pid,omitempty"` // of the process that was attached to
	Group     string            `json:"group,omitempty"`
	All       bool              `json:"all,omitempty"`
	Mode      string            `json:"mode"`
	What      string            `json:"what"`
	Event     string            `json:"event"`
	Period    uint64            `json:"period"`
	Latency   int               `json:"latency,omitempty"`
	Why       []string          `json:"why,omitempty"`
	Started   time.Time         `json:"started"`
	Clock     int64             `json:"clock_offset"`
	Host      string            `json:"host,omitempty"`
	Machine   run.System        `json:"machine"`
	Variables map[string]string `json:"environment,omitempty"`
	Rank      *int              `json:"rank,omitempty"`
	Last      time.Duration     `json:"last,omitempty"` // how much of the end is kept; 0 is all
	Heap      workspaceHead     `json:"heap"`
}

// workspaceHead says where the program writes its allocation log and marks.
type workspaceHead struct {
	Folder    string `json:"folder,omitempty"`
	Library   string `json:"library,omitempty"`
	Threshold int64  `json:"threshold,omitempty"`
	Absent    string `json:"absent,omitempty"`
}

// entry is a line of events: one of these.
type entry struct {
	Time    uint64             `json:"t,omitempty"`
	Mapping *perfevent.Mapping `json:"map,omitempty"`
	Task    *perfevent.Task    `json:"fork,omitempty"`
	Comm    *perfevent.Comm    `json:"comm,omitempty"`
	Loss    *sampler.Loss      `json:"loss,omitempty"`
	Chain   []uint64           `json:"chain,omitempty"` // the next number is its
	Place   string             `json:"place,omitempty"` // of the kernel; so is its
	Told    *told              `json:"told,omitempty"`
	Script  *symbol.Frame      `json:"script,omitempty"` // that an interpreter ran; its number is the next
	// Outside are samples of hardware that are left out.
	Kernel int `json:"kernel,omitempty"`
	Other  int `json:"other,omitempty"`
}

// journal writes what is recorded as it comes: the memory of a recorder does not
// grow with the length of the recording.
type journal struct {
	dir     string
	events  *lane
	rows    *lane
	touches *lane
	err     error // the first that happened; nothing is written after it
	// dropped counts rows that came after it.
	dropped int
	tail    *tail // if only the end is kept
}

// lane is one file of a journal.
type lane struct {
	f *os.File
	w *bufio.Writer
	// What is buffered has its place on the disk before it is accepted: a disk that
	// others fill costs what comes later, and nothing that was taken.
	written, reserved int64
	full              error
}

const (
	laneBuffer  = 64 << 10
	laneReserve = 4 * laneBuffer
)

// newLane reserves the place of what its buffer takes first.
func newLane(f *os.File) *lane {
	l := &lane{f: f}
	l.w = bufio.NewWriterSize(l, laneBuffer)
	l.reserve()
	return l
}

// Write writes a buffer, which has its place, and reserves that of the next.
func (l *lane) Write(b []byte) (int, error) {
	n, err := l.f.Write(b)
	l.written += int64(n)
	l.reserve()
	return n, err
}

func (l *lane) reserve() {
	if l.full != nil || l.reserved-l.written >= 2*laneBuffer {
		return
	}
	err := reservePlace(l.f, l.reserved, laneReserve)
	switch {
	case err == nil:
		l.reserved += laneReserve
	case errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT):
		l.full = fmt.Errorf("write %s: %w", l.f.Name(), err)
	default: // a file system that cannot reserve: writing will tell
		l.reserved = math.MaxInt64
	}
}

// newJournal makes the folder. An empty name is a folder for temporary files.
func newJournal(dir string) (*journal, error) {
	if dir == "" {
		made, err := os.MkdirTemp("", workspacePrefix+strconv.Itoa(os.Getpid())+"-journal-")
		if err != nil {
			return nil, fmt.Errorf("folder for the recording: %w", err)
		}
		dir = made
	} else if err := os.Mkdir(dir, 0o777); err != nil {
		return nil, fmt.Errorf("folder for the recording: %w", err)
	}
	j := &journal{dir: dir}
	for name, l := range map[string]**lane{eventsFile: &j.events, rowsFile: &j.rows, touchesFile: &j.touches} {
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o666)
		if err != nil {
			j.close()
			_ = os.RemoveAll(dir)
			return nil, fmt.Errorf("file for the recording: %w", err)
		}
		*l = newLane(f)
	}
	return j, nil
}

func (j *journal) lanes() []*lane { return []*lane{j.events, j.touches, j.rows} }

func (j *journal) close() {
	for _, l := range j.lanes() {
		if l != nil {
			l.f.Close()
		}
	}
}

// fail remembers the first error.
func (j *journal) fail(err error) {
	if err != nil && j.err == nil {
		j.err = err
	}
}

// takes reports whether a file takes more.
func (j *journal) takes(l *lane) bool {
	j.fail(l.full)
	return j.err == nil
}

// line writes a line of events.
func (j *journal) line(v any) {
	if !j.takes(j.events) {
		return
	}
	b, err := json.Marshal(v)
	if err == nil {
		_, err = j.events.w.Write(append(b, '\n'))
	}
	j.fail(err)
}

// addRow and addTouch write one as it is in memory.
func (j *journal) addRow(r *row) {
	if !j.takes(j.rows) {
		j.dropped++
		return
	}
	j.tail.seen(r.time)
	_, err := j.rows.w.Write(bytesOf(r))
	j.fail(err)
}

func (j *journal) addTouch(t *touch) {
	if j.takes(j.touches) {
		j.tail.seen(t.time)
		_, err := j.touches.w.Write(bytesOf(t))
		j.fail(err)
	}
}

// flush hands everything to the system, which keeps it even if we are killed.
// Events come first: rows refer to them. What was taken before a disk was full has
// its place.
func (j *journal) flush() {
	for _, l := range j.lanes() {
		j.fail(l.w.Flush())
	}
	j.forget()
}

// bytesOf is a value without pointers as it is in memory.
func bytesOf[T row | touch](v *T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v))
}

// layout changes with the places of what rows and touches have: files of another
// version of the program, or of another machine, are not read.
func layout() uint32 {
	sum := crc32.NewIEEE()
	var walk func(t reflect.Type)
	walk = func(t reflect.Type) {
		fmt.Fprintf(sum, "%s %d;", t.Kind(), t.Size())
		if t.Kind() == reflect.Struct {
			for i := range t.NumField() {
				f := t.Field(i)
				fmt.Fprintf(sum, "%s %d ", f.Name, f.Offset)
				walk(f.Type)
			}
		}
	}
	one := uint16(1) // the order of bytes
	fmt.Fprintf(sum, "%d;", *(*byte)(unsafe.Pointer(&one)))
	walk(reflect.TypeFor[row]())
	walk(reflect.TypeFor[touch]())
	return sum.Sum32()
}

// mapped returns what a file of rows or touches holds, as memory that the file
// backs. What the program of a private one changes stays its own.
func mapped[T row | touch](f *os.File, private bool) ([]T, func(), error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	var one T
	n := int(info.Size() / int64(unsafe.Sizeof(one)))
	if n == 0 {
		return nil, func() {}, nil
	}
	how := unix.MAP_SHARED
	if private {
		how = unix.MAP_PRIVATE
	}
	b, err := unix.Mmap(int(f.Fd()), 0, n*int(unsafe.Sizeof(one)), unix.PROT_READ|unix.PROT_WRITE, how)
	if err != nil {
		return nil, nil, fmt.Errorf("map %s: %w", f.Name(), err)
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), n), func() { _ = unix.Munmap(b) }, nil
}

// mappedFrom is mapped for whoever only reads, without what lies before an offset.
func mappedFrom[T row | touch](f *os.File, offset int64) ([]T, func(), error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	var one T
	size := int64(unsafe.Sizeof(one))
	first, end := (offset+size-1)/size*size, info.Size()/size*size
	if first >= end {
		return nil, func() {}, nil
	}
	page := first - first%int64(os.Getpagesize())
	b, err := unix.Mmap(int(f.Fd()), page, int(end-page), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, fmt.Errorf("map %s: %w", f.Name(), err)
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&b[first-page])), int((end-first)/size)), func() { _ = unix.Munmap(b) }, nil
}
