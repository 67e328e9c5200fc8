package tracks

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
)

// Chrome writes the Trace Event Format, which chrome://tracing, Perfetto,
// speedscope and others read: an object with traceEvents and, where there are
// samples, stackFrames and samples.
type Chrome struct {
	w       *bufio.Writer
	err     error
	events  int
	frames  []byte // of stackFrames, as JSON
	samples []byte
	stacks  stacks
	open    map[Track][]string // what the slices that are open were begun with
}

// NewChrome begins a file.
func NewChrome(w io.Writer) *Chrome {
	c := &Chrome{w: bufio.NewWriterSize(w, 1<<16), open: map[Track][]string{}}
	c.stacks = stacks{nodes: map[stackNode]uint64{}, add: c.frame}
	c.write(`{"displayTimeUnit":"ns","otherData":{"creator":"isobath"},"traceEvents":[`)
	return c
}

func (c *Chrome) write(text string) {
	if c.err == nil {
		_, c.err = c.w.WriteString(text)
	}
}

// event writes one, whose phase, track and time are given; the rest is JSON that
// begins with a comma, or nothing.
func (c *Chrome) event(phase string, t Track, time int64, rest string) {
	separator := ",\n"
	if c.events == 0 {
		separator = "\n"
	}
	c.events++
	c.write(fmt.Sprintf(`%s{"ph":%q,"pid":%d,"tid":%d,"ts":%s%s}`, separator, phase, t.PID, t.TID, micros(time), rest))
}

// micros is a time in microseconds, with all digits of the nanoseconds.
func micros(ns int64) string {
	whole, rest := ns/1000, ns%1000
	if rest == 0 {
		return strconv.FormatInt(whole, 10)
	}
	return fmt.Sprintf("%d.%03d", whole, rest)
}

// quoted is a text as JSON.
func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil { // a string always is
		return `""`
	}
	return string(b)
}

func (c *Chrome) Process(pid int64, name string) {
	c.event("M", Track{PID: pid}, 0, `,"name":"process_name","args":{"name":`+quoted(name)+`}`)
}

func (c *Chrome) Thread(t Track, name string) {
	c.event("M", t, 0, `,"name":"thread_name","args":{"name":`+quoted(name)+`}`)
}

func (c *Chrome) Begin(t Track, time int64, name, category string, details []Value, leaving []uint64) {
	about := `,"name":` + quoted(name) + `,"cat":` + quoted(category) + arguments(details)
	c.event("B", t, time, about)
	c.open[t] = append(c.open[t], about)
	for _, id := range leaving {
		c.event("s", t, time, fmt.Sprintf(`,"name":"message","cat":"message","id":%d`, id))
	}
}

func arguments(details []Value) string {
	if len(details) == 0 {
		return ""
	}
	m := map[string]any{}
	for _, d := range details {
		m[d.Name] = d.Value
	}
	b, err := json.Marshal(m)
	if err != nil {
		return "" // a number that JSON has no word for
	}
	return `,"args":` + string(b)
}

func (c *Chrome) End(t Track, time int64, arriving []uint64) {
	for _, id := range arriving { // bp e: to the slice that is open, not the next
		c.event("f", t, time, fmt.Sprintf(`,"name":"message","cat":"message","id":%d,"bp":"e"`, id))
	}
	// The format needs no name here, but readers match ends by name and details.
	about := ""
	if open := c.open[t]; len(open) > 0 {
		about, c.open[t] = open[len(open)-1], open[:len(open)-1]
	}
	c.event("E", t, time, about)
}

func (c *Chrome) Counter(t Track, time int64, name, unit string, value float64) {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return
	}
	if unit != "" {
		name += " (" + unit + ")"
	}
	c.event("C", t, time, fmt.Sprintf(`,"name":%s,"id":%d,"args":{"value":%s}`, quoted(name), t.TID, strconv.FormatFloat(value, 'g', -1, 64)))
}

func (c *Chrome) frame(id, parent uint64, f Frame) {
	separator := ",\n"
	if len(c.frames) == 0 {
		separator = "\n"
	}
	c.frames = fmt.Appendf(c.frames, `%s"%d":{"name":%s,"category":%s`, separator, id, quoted(f.Name), quoted(f.File))
	if f.Line > 0 {
		c.frames = fmt.Appendf(c.frames, `,"line":"%d","column":"0"`, f.Line)
	}
	if parent != 0 {
		c.frames = fmt.Appendf(c.frames, `,"parent":%d`, parent)
	}
	c.frames = append(c.frames, '}')
}

func (c *Chrome) Sample(t Track, time int64, cpu int64, stack []Frame) {
	separator := ",\n"
	if len(c.samples) == 0 {
		separator = "\n"
	}
	c.samples = fmt.Appendf(c.samples, `%s{"pid":%d,"tid":"%d","ts":"%s","name":"sample","weight":"1","sf":%d`, separator, t.PID, t.TID, micros(time), c.stacks.of(stack))
	if cpu >= 0 {
		c.samples = fmt.Appendf(c.samples, `,"cpu":"%d"`, cpu)
	}
	c.samples = append(c.samples, '}')
}

// Close ends the file.
func (c *Chrome) Close() error {
	c.write("\n]")
	if len(c.samples) > 0 {
		c.write(",\n\"stackFrames\":{" + string(c.frames) + "\n},\n\"samples\":[" + string(c.samples) + "\n]")
	}
	c.write("}\n")
	if c.err != nil {
		return c.err
	}
	return c.w.Flush()
}
