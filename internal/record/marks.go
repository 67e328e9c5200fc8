package record

import (
	"bufio"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/table"
)

// marks are what a program said about itself through clients/isobath.h: names
// of buffers, and values of state variables. Each is one line of a text file:
//
//	buffer PID TID TIME ADDR ELEMENT DIMS D0 D1 D2 NAME
//	state PID TID TIME VALUE NAME
//	word PID TID TIME VALUE NAME=TEXT
//
// D0 varies fastest. A line may be damaged if the program was killed while
// writing it; such lines are counted and left out.
type marks struct {
	buffers []buffer
	states  []state
	damaged int
}

type buffer struct {
	pid  int
	time uint64
	addr uint64
	elem uint64
	dims []uint64
	name string
}

type state struct {
	pid   int32
	time  uint64
	name  string
	value float64
	text  string // of a state whose value is a word
	word  bool
}

// Bounds on what a file of marks may hold.
const (
	maxMarks    = 8 << 20
	maxMarkName = 256
	maxStates   = 32 // different variables
)

// readMarks reads the lines a program wrote.
func readMarks(r io.Reader) (*marks, error) {
	m := &marks{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 64<<10)
	for lines.Scan() && len(m.buffers)+len(m.states) < maxMarks {
		if !m.line(lines.Text()) {
			m.damaged++
		}
	}
	slices.SortStableFunc(m.states, func(a, b state) int {
		switch {
		case a.time < b.time:
			return -1
		case a.time > b.time:
			return 1
		}
		return 0
	})
	return m, lines.Err()
}

func (m *marks) line(text string) bool {
	kind, rest, _ := strings.Cut(text, " ")
	switch kind {
	case "buffer":
		f := strings.SplitN(rest, " ", 10)
		n, ok := numbers(f, 9)
		if !ok || len(f) < 10 || n[5] > 3 || f[9] == "" || len(f[9]) > maxMarkName {
			return false
		}
		m.buffers = append(m.buffers, buffer{pid: int(n[0]), time: n[2], addr: n[3], elem: n[4], dims: n[6 : 6+n[5]], name: f[9]})
		return true
	case "state", "word":
		f := strings.SplitN(rest, " ", 5)
		n, ok := numbers(f[:min(len(f), 3)], 3)
		if !ok || len(f) != 5 || f[4] == "" || len(f[4]) > maxMarkName {
			return false
		}
		s := state{pid: int32(n[0]), time: n[2], name: f[4]}
		if kind == "word" {
			s.name, s.text, s.word = strings.Cut(f[4], "=")
			if s.name == "" || !s.word {
				return false
			}
		} else {
			v, err := strconv.ParseFloat(f[3], 64)
			if err != nil {
				return false
			}
			s.value = v
		}
		m.states = append(m.states, s)
		return true
	}
	return false
}

// numbers parses the first n fields; addresses may be in hexadecimal.
func numbers(fields []string, n int) ([]uint64, bool) {
	if len(fields) < n {
		return nil, false
	}
	out := make([]uint64, n)
	for i := range out {
		v, err := strconv.ParseUint(fields[i], 0, 64)
		if err != nil {
			return nil, false
		}
		out[i] = v
	}
	return out, true
}

// name gives the buffers to the objects of the recording.
func (m *marks) name(objects *symbol.Objects) {
	for _, b := range m.buffers {
		t := &symbol.Type{Elem: b.elem, Dims: b.dims, Size: b.elem, Name: typeName(b.elem, b.dims)}
		for _, d := range b.dims {
			if d != 0 && t.Size > 1<<62/d {
				t = nil // no buffer is that large
				break
			}
			t.Size *= d
		}
		if t != nil && t.Size > 0 {
			objects.Mark(b.pid, b.time, b.name, b.addr, t)
		}
	}
}

// typeName writes a type as symbol.ParseType reads it.
func typeName(elem uint64, dims []uint64) string {
	var b strings.Builder
	b.WriteString(strconv.FormatUint(elem, 10) + " bytes")
	for _, d := range slices.Backward(dims) {
		b.WriteString("[" + strconv.FormatUint(d, 10) + "]")
	}
	return b.String()
}

// columns are the state variables at the time of each row, which are in order
// of time, as are the births of processes. A variable is that of the process:
// threads share it, and a child begins with its parent's.
func (m *marks) columns(rows []row, births []birth, taken []*table.Column) []*table.Column {
	var names []string
	for _, s := range m.states {
		if !slices.Contains(names, s.name) && len(names) < maxStates {
			names = append(names, s.name)
		}
	}
	var out []*table.Column
	for _, n := range names {
		title := n
		if slices.ContainsFunc(taken, func(c *table.Column) bool { return c.Name == title }) {
			title = "state_" + n
		}
		c := m.column(n, title, rows, births)
		c.Note = "state variable of the program: its value when the sample was taken"
		out = append(out, c)
	}
	return out
}

func (m *marks) column(variable, title string, rows []row, births []birth) *table.Column {
	words := slices.ContainsFunc(m.states, func(s state) bool { return s.name == variable && s.word })
	now := map[int32]*state{}
	numbers, codes, has := make([]float64, len(rows)), make([]uint32, len(rows)), table.NewBits(len(rows))
	in, next, born := table.NewInterner(), 0, 0
	until := func(time uint64) {
		for ; next < len(m.states) && m.states[next].time <= time; next++ {
			if m.states[next].name == variable {
				now[m.states[next].pid] = &m.states[next]
			}
		}
	}
	for i := range rows {
		for ; born < len(births) && births[born].time <= rows[i].time; born++ {
			b := &births[born]
			until(b.time)
			now[b.pid] = now[b.parent] // nothing of a new program
		}
		until(rows[i].time)
		s := now[rows[i].pid]
		if s == nil {
			continue
		}
		has.Set(i)
		if words {
			codes[i] = in.CodeString(s.say())
		} else {
			numbers[i] = s.value
		}
	}
	if words {
		return table.Categories(title, table.Measured, codes, in.Names(), has)
	}
	return whole(title, numbers, has)
}

func (s *state) say() string {
	if s.word {
		return s.text
	}
	return strconv.FormatFloat(s.value, 'g', -1, 64)
}

// whole makes a column of whole numbers where all are.
func whole(title string, values []float64, has table.Bits) *table.Column {
	ints := make([]int64, len(values))
	for i, v := range values {
		if v != float64(int64(v)) {
			return table.Floats(title, "", table.Measured, values, has)
		}
		ints[i] = int64(v)
	}
	return table.Ints(title, "", table.Measured, ints, has)
}
