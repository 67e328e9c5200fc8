package chrometrace

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// event is one of the list, with the members that are used. Numbers may be
// strings, and numbers of processes and threads words.
type event struct {
	Phase    string          `json:"ph"`
	Name     string          `json:"name"`
	Category string          `json:"cat"`
	Process  json.RawMessage `json:"pid"`
	Thread   json.RawMessage `json:"tid"`
	Time     json.RawMessage `json:"ts"`
	Duration json.RawMessage `json:"dur"`
	ID       json.RawMessage `json:"id"`
	ID2      json.RawMessage `json:"id2"`
	BindID   json.RawMessage `json:"bind_id"`
	Scope    string          `json:"scope"`
	Bind     string          `json:"bp"`
	FlowIn   bool            `json:"flow_in"`
	FlowOut  bool            `json:"flow_out"`
	Args     json.RawMessage `json:"args"`
}

// mark is where a slice begins or ends, or a flow touches one, on a thread.
type mark struct {
	time  int64
	name  uint32 // of a slice, or the number of a flow
	phase byte   // B, E; s, t, f
	next  bool   // a flow that ends in the next slice, not in the one that is open
	bytes int64  // that a slice says it sends; −1 if it does not
}

// slice is a call, or another stretch of time that has a name.
type slice struct {
	start, end int64
	name       uint32
	parent     int32 // −1 for none
	bytes      int64
	// order and last are the places of beginning and end among the marks of the
	// thread; last is −1 for a slice that was written whole.
	order, last int32
}

// count is a value of a counter.
type count struct {
	time  int64
	name  uint32
	value float64
}

type threadKey struct{ process, thread string }

type thread struct {
	key      threadKey
	name     string
	position float64 // where the writer wants it
	marks    []mark
	whole    []slice // those of phase X
	slices   []slice // all, callers before what they call
	counts   []count
	records  []record
}

type process struct {
	name     string
	position float64
}

// reader collects what a file holds.
type reader struct {
	threads   map[threadKey]*thread
	processes map[string]*process
	order     []threadKey
	texts     map[string]uint32
	words     []string
	flows     map[string]uint32
	ends      [][]flowEnd // of each flow
	slices    int
	samples   int
	skipped   map[string]int // phases that are left out
	notes     map[string]int
	first     int64
	messages  []message
}

func newReader() *reader {
	return &reader{threads: map[threadKey]*thread{}, processes: map[string]*process{}, texts: map[string]uint32{}, flows: map[string]uint32{},
		skipped: map[string]int{}, notes: map[string]int{}, first: math.MaxInt64}
}

// read takes a document in, in the object or in the array form.
func (r *reader) read(in io.Reader) error {
	b := bufio.NewReaderSize(in, 1<<16)
	if head, _ := b.Peek(3); bytes.Equal(head, []byte("\xef\xbb\xbf")) {
		if _, err := b.Discard(3); err != nil {
			return err
		}
	}
	d := json.NewDecoder(b)
	d.UseNumber()
	t, err := d.Token()
	if err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	switch t {
	case json.Delim('['):
		return r.list(d)
	case json.Delim('{'):
		return r.object(d)
	}
	return errors.New("neither a list of events nor an object that has one")
}

// object reads the object form: events, and much that viewers do not need.
func (r *reader) object(d *json.Decoder) error {
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return r.cut(err)
		}
		if t == listKey {
			if t, err = d.Token(); err != nil || t != json.Delim('[') {
				return fmt.Errorf("%s is no list", listKey)
			}
			err = r.list(d)
		} else {
			var n int
			n, err = skip(d)
			if t == "samples" {
				r.samples = n
			}
		}
		if err != nil {
			return r.cut(err)
		}
	}
	return nil
}

// cut keeps what was read of a file that ends early or breaks; if that is
// nothing, it is an error.
func (r *reader) cut(err error) error {
	if len(r.threads) == 0 {
		return fmt.Errorf("not a list of events: %w", err)
	}
	r.notes["the file ends early or is damaged; the events before are kept"]++
	return nil
}

// skip passes over a value and returns how many values are directly in it.
func skip(d *json.Decoder) (int, error) {
	depth, n := 0, 0
	for {
		t, err := d.Token()
		if err != nil {
			return n, err
		}
		switch t {
		case json.Delim('['), json.Delim('{'):
			if depth == 1 {
				n++
			}
			depth++
		case json.Delim(']'), json.Delim('}'):
			depth--
		}
		if depth == 0 {
			return n, nil
		}
	}
}

// list reads events. Writers may be interrupted: the array form needs no end
// (section "JSON Array Format").
func (r *reader) list(d *json.Decoder) error {
	for d.More() {
		var e event
		err := d.Decode(&e)
		if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
			r.notes["an event of another form was left out"]++
			continue
		}
		if err != nil {
			return r.cut(err)
		}
		r.take(&e)
	}
	if _, err := d.Token(); err != nil {
		return r.cut(err)
	}
	return nil
}

// take keeps an event.
func (r *reader) take(e *event) {
	if e.Phase == "M" {
		r.describe(e)
		return
	}
	if !strings.Contains("B E X s t f C", e.Phase) || len(e.Phase) != 1 {
		if e.Phase != "" {
			r.skipped[e.Phase]++
		}
		return
	}
	at, ok := nanoseconds(e.Time)
	if !ok {
		r.notes["an event without a time was left out"]++
		return
	}
	r.first = min(r.first, at)
	th := r.thread(e)
	switch e.Phase {
	case "B":
		th.marks = append(th.marks, mark{time: at, name: r.text(e.Name), phase: 'B', bytes: bytesOf(e.Args)})
	case "E":
		th.marks = append(th.marks, mark{time: at, name: r.text(e.Name), phase: 'E'})
	case "X":
		r.complete(th, e, at)
	case "C":
		r.counter(th, e, at)
	default:
		id := e.ID
		if len(e.ID2) > 0 {
			id = e.ID2
		}
		th.marks = append(th.marks, mark{time: at, name: r.flow(e, id), phase: e.Phase[0], next: e.Phase == "f" && e.Bind != "e"})
	}
}

// complete takes a slice that was written whole, with the flows of the second
// form of the format, which are members of the slice.
func (r *reader) complete(th *thread, e *event, at int64) {
	long, ok := nanoseconds(e.Duration)
	if !ok {
		long = 0
	}
	if long < 0 || at > math.MaxInt64-long {
		r.notes["a slice that ends before it begins was left out"]++
		return
	}
	th.whole = append(th.whole, slice{start: at, end: at + long, name: r.text(e.Name), bytes: bytesOf(e.Args), last: -1})
	if len(e.BindID) == 0 {
		return
	}
	id := r.flow(e, e.BindID)
	if e.FlowIn {
		th.marks = append(th.marks, mark{time: at, name: id, phase: 't'})
	}
	if e.FlowOut {
		th.marks = append(th.marks, mark{time: at, name: id, phase: 's'})
	}
}

// counter takes the values of a counter: one a member of its arguments.
func (r *reader) counter(th *thread, e *event, at int64) {
	var values map[string]json.Number
	if json.Unmarshal(e.Args, &values) != nil {
		r.notes["a counter without numbers was left out"]++
		return
	}
	for _, name := range sortedKeys(values) {
		v, err := values[name].Float64()
		if err != nil {
			r.notes["a counter without numbers was left out"]++
			continue
		}
		full := e.Name
		if len(values) > 1 || name != "value" {
			full += " " + name
		}
		th.counts = append(th.counts, count{at, r.text(full), v})
	}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// describe takes a name of a process or thread, and where it stands.
func (r *reader) describe(e *event) {
	var args struct {
		Name     string  `json:"name"`
		Position float64 `json:"sort_index"`
	}
	if json.Unmarshal(e.Args, &args) != nil {
		return
	}
	switch e.Name {
	case "process_name":
		r.process(word(e.Process)).name = args.Name
	case "process_sort_index":
		r.process(word(e.Process)).position = args.Position
	case "thread_name":
		r.thread(e).name = args.Name
	case "thread_sort_index":
		r.thread(e).position = args.Position
	}
}

func (r *reader) process(key string) *process {
	p := r.processes[key]
	if p == nil {
		p = &process{}
		r.processes[key] = p
	}
	return p
}

func (r *reader) thread(e *event) *thread {
	key := threadKey{word(e.Process), word(e.Thread)}
	th := r.threads[key]
	if th == nil {
		th = &thread{key: key}
		r.threads[key] = th
		r.order = append(r.order, key)
		r.process(key.process)
	}
	return th
}

// text numbers a name.
func (r *reader) text(s string) uint32 {
	id, ok := r.texts[s]
	if !ok {
		id = uint32(len(r.words))
		r.texts[s] = id
		r.words = append(r.words, s)
	}
	return id
}

// flow numbers a flow by what tells it from others: category, name, scope and
// id. An id that is said to be local is one of its process.
func (r *reader) flow(e *event, id json.RawMessage) uint32 {
	key := e.Category + "\x00" + e.Scope + "\x00" + string(id)
	if len(e.BindID) == 0 {
		key += "\x00" + e.Name
	}
	if bytes.Contains(e.ID2, []byte(`"local"`)) {
		key += "\x00" + word(e.Process)
	}
	n, ok := r.flows[key]
	if !ok {
		n = uint32(len(r.ends))
		r.flows[key] = n
		r.ends = append(r.ends, nil)
	}
	return n
}

// word is a number or a text as it is written, without quotes.
func word(raw json.RawMessage) string {
	var s string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// nanoseconds reads a time in microseconds with its digits: times since 1970
// do not fit a floating-point number to the nanosecond.
func nanoseconds(raw json.RawMessage) (int64, bool) {
	text := word(raw)
	if text == "" || text == "null" {
		return 0, false
	}
	whole, rest, _ := strings.Cut(text, ".")
	us, err := strconv.ParseInt(whole, 10, 64)
	const most = math.MaxInt64 / 4000
	if err == nil && us > -most && us < most && len(rest) <= 3 && !strings.ContainsAny(rest, "eE") {
		ns := int64(0)
		if rest != "" {
			if ns, err = strconv.ParseInt((rest + "00")[:3], 10, 64); err != nil || ns < 0 {
				return 0, false
			}
		}
		if strings.HasPrefix(whole, "-") {
			ns = -ns
		}
		return us*1000 + ns, true
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(math.Abs(v) < most) {
		return 0, false
	}
	return int64(math.Round(v * 1000)), true
}

// bytesOf is what a slice says it sends; −1 if it does not.
func bytesOf(args json.RawMessage) int64 {
	if !bytes.Contains(args, []byte(`"bytes"`)) {
		return -1
	}
	var has struct {
		Bytes *int64 `json:"bytes"`
	}
	if json.Unmarshal(args, &has) != nil || has.Bytes == nil || *has.Bytes < 0 {
		return -1
	}
	return *has.Bytes
}

// contents says what a file without slices has.
func (r *reader) contents() string {
	var parts []string
	if r.samples > 0 {
		parts = append(parts, fmt.Sprintf("%d samples of call stacks", r.samples))
	}
	values := 0
	for _, th := range r.threads {
		values += len(th.counts)
	}
	if values > 0 {
		parts = append(parts, fmt.Sprintf("%d values of counters", values))
	}
	for _, phase := range sortedKeys(r.skipped) {
		parts = append(parts, fmt.Sprintf("%d events of phase %s", r.skipped[phase], phase))
	}
	if len(parts) == 0 {
		return "it has no other events"
	}
	return "it has " + strings.Join(parts[:min(len(parts), 6)], ", ")
}
