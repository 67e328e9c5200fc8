package paraver

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// place is a thread as records name it: application, task and thread from 1.
type place struct{ appl, task, thread int32 }

// call is a call of MPI or a function, as two events say.
type call struct {
	enter, leave uint64
	name         string
	mpi          bool
	comm         int32 // of a collective; 0: not said
	root         bool
	sent, got    uint64
	ends         []end
}

// end is one side of a message that a call takes part in.
type end struct {
	kind  endKind
	peer  int32 // number of the task over all applications
	tag   uint32
	bytes uint64
	req   uint64
	class int    // of messages, see reader.classes
	time  uint64 // of a send: when it left
}

type endKind uint8

const (
	sends endKind = iota
	posts         // a receive that a later call completes
	receives
	completes
)

// thread is what one thread did.
type thread struct {
	calls []call
	mpi   []int32         // rows of calls that are of MPI, in order
	order []int32         // calls as they begin (row) and end (-1-row)
	open  map[int64]int32 // by type: the row of the call of MPI that is open
	stack []int32         // functions that are open
	last  uint64
}

// message is a record of communication.
type message struct {
	from, to                    place
	sent, left, posted, arrived uint64
	bytes                       uint64
	tag                         uint32
	class                       int
}

// communicator is a line of the header.
type communicator struct {
	id    int32
	tasks []int32
}

// reader is a trace while it is read.
type reader struct {
	names    names
	scale    uint64 // nanoseconds of a unit of time
	tasks    []int  // of each application
	onNode   [][]int32
	comms    []communicator
	threads  map[place]*thread
	places   []place
	messages []message
	nodes    []string
	groups   int      // how many classes of messages there are
	classes  []uint64 // their communicators in the archive
	notes    map[string]int
}

func newReader(n names) *reader {
	return &reader{names: n, scale: 1, threads: map[place]*thread{}, notes: map[string]int{}}
}

func (t *reader) read(r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 1<<16), maxLine)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		var err error
		switch {
		case n == 1:
			err = t.header(text)
		case text == "" || text[0] == '#':
		case text[0] == 'c':
			err = t.communicator(text)
		default:
			err = t.record(text)
		}
		if err != nil {
			if n > 1 { // a trace that was cut off ends inside a line
				t.notes[fmt.Sprintf("a line that is no record was left out: %v", err)]++
				continue
			}
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if len(t.threads) == 0 {
		return errors.New("the trace has no events and no messages")
	}
	return nil
}

// header reads "#Paraver (date at time):length_ns:nodes(cpus,…):applications:
// tasks(threads:node,…),communicators:…".
func (t *reader) header(text string) error {
	_, rest, ok := strings.Cut(text, "):")
	if !ok {
		return errors.New("the header has no date")
	}
	length, rest, _ := strings.Cut(rest, ":")
	if !strings.HasSuffix(length, "_ns") {
		t.scale = 1000 // traces without a unit are in microseconds
	}
	// The nodes: a number, with the CPUs of each in brackets.
	nodes, after, _ := strings.Cut(rest, ":")
	if strings.Contains(nodes, "(") {
		at := strings.Index(rest, "):")
		if at < 0 {
			return errors.New("the header has no end of the list of CPUs")
		}
		after = rest[at+2:]
	}
	count, list, _ := strings.Cut(after, ":")
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 {
		return fmt.Errorf("%.20q is no number of applications", count)
	}
	for range n {
		tasks, rest, ok := strings.Cut(list, "(")
		if !ok {
			return errors.New("the header lists fewer applications than it says")
		}
		inside, rest, ok := strings.Cut(rest, ")")
		if !ok {
			return errors.New("the header has no end of a list of tasks")
		}
		want, err := strconv.Atoi(tasks)
		var on []int32
		for word := range strings.SplitSeq(inside, ",") {
			_, node, _ := strings.Cut(word, ":")
			number, _ := strconv.ParseInt(node, 10, 32)
			on = append(on, int32(number))
		}
		if err != nil || want != len(on) {
			return fmt.Errorf("the header says %.20q tasks and lists %d", tasks, len(on))
		}
		t.tasks, t.onNode = append(t.tasks, want), append(t.onNode, on)
		_, list, _ = strings.Cut(rest, ":") // after the number of communicators
	}
	return nil
}

// communicator reads "c:application:number:size:task:task…".
func (t *reader) communicator(text string) error {
	f := strings.Split(text, ":")
	if len(f) < 5 {
		return errors.New("a communicator without members")
	}
	v, err := numbers(f[1:])
	if err != nil {
		return err
	}
	if v[2] != int64(len(v)-3) {
		return fmt.Errorf("communicator %d has %d members and says %d", v[1], len(v)-3, v[2])
	}
	c := communicator{id: int32(v[1])}
	for _, task := range v[3:] {
		number, ok := t.taskNumber(int32(v[0]), int32(min(task, 1<<30)))
		if !ok {
			return fmt.Errorf("communicator %d has a task %d that the header does not have", v[1], task)
		}
		c.tasks = append(c.tasks, number)
	}
	t.comms = append(t.comms, c)
	return nil
}

func numbers(fields []string) ([]int64, error) {
	out := make([]int64, len(fields))
	for i, f := range fields {
		v, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%.20q is no number", f)
		}
		out[i] = v
	}
	return out, nil
}

// taskNumber counts tasks over all applications, from 0.
func (t *reader) taskNumber(appl, task int32) (int32, bool) {
	if appl < 1 || int(appl) > len(t.tasks) || task < 1 || int(task) > t.tasks[appl-1] {
		return 0, false
	}
	before := 0
	for _, n := range t.tasks[:appl-1] {
		before += n
	}
	return int32(before) + task - 1, true
}

func (t *reader) thread(v []int64) (*thread, place, error) {
	at := place{int32(min(v[0], 1<<30)), int32(min(v[1], 1<<30)), int32(min(v[2], 1<<30))}
	if th := t.threads[at]; th != nil {
		return th, at, nil
	}
	if _, ok := t.taskNumber(at.appl, at.task); !ok || at.thread < 1 {
		return nil, at, fmt.Errorf("%d:%d:%d is no thread that the header has", v[0], v[1], v[2])
	}
	th := &thread{open: map[int64]int32{}}
	t.threads[at] = th
	t.places = append(t.places, at)
	return th, at, nil
}

// record reads a state (1), events (2) or a communication (3).
func (t *reader) record(text string) error {
	v, err := numbers(strings.Split(text, ":"))
	if err != nil {
		return err
	}
	switch {
	case v[0] == 1 && len(v) == 8:
		t.notes["states are left out: calls say the same"] = 1
	case v[0] == 2 && len(v) >= 8 && len(v)%2 == 0:
		th, _, err := t.thread(v[2:5])
		if err != nil || v[5] < 0 {
			return errors.Join(err, negative(v[5]))
		}
		th.last = max(th.last, uint64(v[5]))
		t.events(th, uint64(v[5]), v[6:])
	case v[0] == 3 && len(v) == 15:
		return t.communication(v)
	default:
		return fmt.Errorf("a record of kind %d with %d fields", v[0], len(v))
	}
	return nil
}

func negative(time int64) error {
	if time < 0 {
		return fmt.Errorf("time %d is before the start", time)
	}
	return nil
}

// communication reads "3:cpu:appl:task:thread:logical send:physical send:cpu:
// appl:task:thread:logical receive:physical receive:size:tag".
func (t *reader) communication(v []int64) error {
	_, from, err := t.thread(v[2:5])
	if err != nil {
		return err
	}
	_, to, err := t.thread(v[8:11])
	if err != nil {
		return err
	}
	for _, time := range []int64{v[5], v[6], v[11], v[12], v[13]} {
		if time < 0 {
			return negative(time)
		}
	}
	t.messages = append(t.messages, message{from: from, to: to, sent: uint64(v[5]), left: uint64(v[6]), posted: uint64(v[11]), arrived: uint64(v[12]), bytes: uint64(v[13]), tag: uint32(v[14])})
	return nil
}

// events reads the pairs of type and value that happen at a time: a value begins
// a call, zero ends it, and what a collective is about stands beside its begin.
func (t *reader) events(th *thread, time uint64, pairs []int64) {
	begun := int32(-1)
	for i := 0; i < len(pairs); i += 2 {
		typ, value := pairs[i], pairs[i+1]
		switch {
		case typ == TypeFunction:
			t.function(th, time, value)
		case understood(typ):
			if row, ok := th.open[typ]; ok { // also where a call follows without an end
				th.end(row, time)
				delete(th.open, typ)
			}
			if value != 0 {
				begun = th.begin(time, t.names.region(typ, value), true)
				th.open[typ] = begun
			}
		}
	}
	for i := 0; i < len(pairs); i += 2 {
		typ, value := pairs[i], pairs[i+1]
		about := typ == TypeRoot || typ == TypeCommunicator || typ == TypeSent || typ == TypeReceived
		switch {
		case understood(typ):
		case about && begun >= 0:
			th.calls[begun].about(typ, value)
		case about:
			if row, ok := th.open[TypeCollective]; ok {
				th.calls[row].about(typ, value)
			}
		default:
			t.notes["events of types that are neither calls of MPI nor functions are left out"]++
		}
	}
}

func (c *call) about(typ, value int64) {
	switch typ {
	case TypeRoot:
		c.root = value != 0
	case TypeCommunicator:
		c.comm = int32(min(max(value, 0), 1<<30))
	case TypeSent:
		c.sent = uint64(max(value, 0))
	case TypeReceived:
		c.got = uint64(max(value, 0))
	}
}

func (th *thread) begin(time uint64, name string, mpi bool) int32 {
	row := int32(len(th.calls))
	th.calls = append(th.calls, call{enter: time, leave: time, name: name, mpi: mpi})
	th.order = append(th.order, row)
	if mpi {
		th.mpi = append(th.mpi, row)
	}
	return row
}

func (th *thread) end(row int32, time uint64) {
	th.calls[row].leave = time
	th.order = append(th.order, -1-row)
}

// maxDepth bounds the functions that are open at once.
const maxDepth = 4096

// function begins or, with 0, ends the innermost function.
func (t *reader) function(th *thread, time uint64, value int64) {
	n := len(th.stack)
	switch {
	case value == 0 && n > 0:
		th.end(th.stack[n-1], time)
		th.stack = th.stack[:n-1]
	case value != 0 && n < maxDepth:
		th.stack = append(th.stack, th.begin(time, t.names.region(TypeFunction, value), false))
	case value != 0:
		t.notes["functions that call too deep are left out"]++
	}
}
