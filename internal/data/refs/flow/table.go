package flow

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/table"
)

// The tables of a run that hold its flow.
const (
	EventTable = "flow"
	BlockTable = "blocks"
	CodeTable  = "instructions"
	MarkTable  = "statements"
	CallTable  = "inlined"
)

// HookedFormat is the format of runs of programs with compiler hooks.
const HookedFormat = "instrument"

// accessNames are the values of column "access".
var accessNames = []string{"none", "load", "store", "modify", unhooked: "unhooked"}

// unhooked is the value of accesses without a compiler hook.
const unhooked = 4

// Tables returns the flow as tables of a run.
func (t *Trace) Tables() ([]*table.Table, error) {
	events, err := t.eventTable()
	if err != nil {
		return nil, err
	}
	low, high := make([]uint64, len(t.Blocks)), make([]uint64, len(t.Blocks))
	for i, b := range t.Blocks {
		low[i], high[i] = b.Low, b.High
	}
	blocks, err := table.New(BlockTable, []*table.Column{
		table.Addresses("start", table.Measured, low, nil), table.Addresses("end", table.Measured, high, nil)})
	if err != nil {
		return nil, err
	}
	code, err := t.codeTable()
	if err != nil {
		return nil, err
	}
	marks, err := placed(MarkTable, t.Marks)
	if err != nil {
		return nil, err
	}
	var sites []Mark
	for i := range t.Code {
		for _, s := range t.Code[i].Calls {
			sites = append(sites, Mark{t.Code[i].PC, s.File, s.Line, s.Column})
		}
	}
	calls, err := placed(CallTable, sites)
	return []*table.Table{events, blocks, code, marks, calls}, err
}

// placed is a table of positions in the source by address.
func placed(name string, marks []Mark) (*table.Table, error) {
	n := len(marks)
	ip, file, line, column := make([]uint64, n), make([]uint32, n), make([]int64, n), make([]int64, n)
	files := table.NewInterner()
	for i, m := range marks {
		ip[i], file[i], line[i], column[i] = m.PC, files.CodeString(m.File), int64(m.Line), int64(m.Column)
	}
	return table.New(name, []*table.Column{
		table.Addresses("ip", table.Derived, ip, nil), table.Categories("file", table.Derived, file, files.Names(), nil),
		table.Ints("line", "", table.Derived, line, nil), table.Ints("column", "", table.Derived, column, nil)})
}

// readPlaced reads such a table, which runs may be without.
func readPlaced(marks *table.Table) (all []Mark, err error) {
	if marks == nil {
		return nil, nil
	}
	ip, err1 := addresses(marks, "ip")
	line, err2 := numbers(marks, "line")
	column, err3 := numbers(marks, "column")
	file := marks.Column("file")
	for _, err := range []error{err1, err2, err3} {
		if err != nil {
			return nil, err
		}
	}
	if file == nil {
		return nil, fmt.Errorf("table %s has no files", marks.Name)
	}
	for i := range ip {
		all = append(all, Mark{ip[i], file.Text(i), int(line(i)), int(column(i))})
	}
	return all, nil
}

// readCalls gives instructions where the functions they were inlined from are called.
func (t *Trace) readCalls(calls *table.Table) error {
	all, err := readPlaced(calls)
	for _, c := range all {
		i, found := slices.BinarySearchFunc(t.Code, c.PC, func(in Instruction, pc uint64) int { return cmp.Compare(in.PC, pc) })
		if found && len(t.Code[i].Calls) < maxCalls {
			t.Code[i].Calls = append(t.Code[i].Calls, Site{c.File, c.Line, c.Column})
		}
	}
	return err
}

// maxCalls bounds the functions of a file that are inlined into one another.
const maxCalls = 64

// The blocks that end threads in the table.
const (
	ended   = -1
	stopped = -2 // the recording ended, and the thread went on or was ended by a signal
)

// eventTable has the events of all threads, one thread after the other.
func (t *Trace) eventTable() (*table.Table, error) {
	var tid, expected, block table.GrowingInts
	for i := range t.Threads {
		th := &t.Threads[i]
		for _, e := range th.Events {
			b := int64(e.Block)
			switch {
			case e.Block == None && t.Stopped:
				b = stopped
			case e.Block == None:
				b = ended
			}
			tid.Append(int64(th.ID))
			expected.Append(int64(e.Expected))
			block.Append(b)
		}
		th.spill.Release()
	}
	var columns []*table.Column
	for _, c := range []struct {
		name   string
		values *table.GrowingInts
	}{{"tid", &tid}, {"expected", &expected}, {"block", &block}} {
		column, err := c.values.Column(c.name, "", table.Measured)
		if err != nil {
			return nil, err
		}
		columns = append(columns, column)
	}
	return table.New(EventTable, columns)
}

func (t *Trace) codeTable() (*table.Table, error) {
	n := len(t.Code)
	ip, start := make([]uint64, n), make([]uint64, n)
	length, line, column, element := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	ending, access, function, home, file := make([]uint32, n), make([]uint32, n), make([]uint32, n), make([]uint32, n), make([]uint32, n)
	functions, homes, files := table.NewInterner(), table.NewInterner(), table.NewInterner()
	for i := range t.Code {
		in := &t.Code[i]
		ip[i], start[i] = in.PC, in.Function
		length[i], line[i], column[i] = int64(in.Length), int64(in.Place.Line), int64(in.Column)
		ending[i], element[i] = uint32(in.Ending), int64(in.Element)
		if in.Loads {
			access[i]++
		}
		if in.Stores {
			access[i] += 2
		}
		if in.Unhooked {
			access[i] = unhooked
		}
		function[i], home[i], file[i] = functions.CodeString(in.Place.Function), homes.CodeString(in.Home), files.CodeString(in.Place.File)
	}
	return table.New(CodeTable, []*table.Column{
		table.Addresses("ip", table.Measured, ip, nil),
		table.Ints("length", "bytes", table.Derived, length, nil),
		table.Categories("ending", table.Derived, ending, endingNames, nil),
		table.Categories("access", table.Derived, access, accessNames, nil),
		table.Addresses("start", table.Derived, start, nil),
		table.Categories("home", table.Derived, home, homes.Names(), nil),
		table.Categories("function", table.Derived, function, functions.Names(), nil),
		table.Categories("file", table.Derived, file, files.Names(), nil),
		table.Ints("line", "", table.Derived, line, nil),
		table.Ints("column", "", table.Derived, column, nil),
		table.Ints("element", "bytes", table.Derived, element, nil),
	})
}

// maxThreads bounds the threads of a file: each takes some room.
const maxThreads = 1 << 16

// Read returns the flow of a run; nil if it was recorded without.
func Read(r *run.Run) (*Trace, error) {
	events, blocks, code := r.Table(EventTable), r.Table(BlockTable), r.Table(CodeTable)
	if events == nil || blocks == nil || code == nil {
		return nil, nil
	}
	t := &Trace{Hooked: r.Format == HookedFormat}
	if err := t.readEvents(events); err != nil {
		return nil, err
	}
	low, err1 := addresses(blocks, "start")
	high, err2 := addresses(blocks, "end")
	if err1 != nil || err2 != nil {
		return nil, fmt.Errorf("table %s has no start and end", BlockTable)
	}
	for i := range low {
		t.Blocks = append(t.Blocks, refs.Range{Low: low[i], High: max(low[i], high[i])})
	}
	var err error
	if t.Marks, err = readPlaced(r.Table(MarkTable)); err != nil {
		return nil, err
	}
	if err := t.readCode(code); err != nil {
		return nil, err
	}
	return t, t.readCalls(r.Table(CallTable))
}

func addresses(t *table.Table, name string) ([]uint64, error) {
	if c := t.Column(name); c != nil {
		if values, ok := c.Data.([]uint64); ok {
			return values, nil
		}
	}
	return nil, fmt.Errorf("table %s has no addresses %s", t.Name, name)
}

// numbers returns how to read whole numbers of a column without its type.
func numbers(t *table.Table, name string) (func(i int) int64, error) {
	c := t.Column(name)
	if c == nil {
		return nil, fmt.Errorf("table %s has no column %s", t.Name, name)
	}
	switch values := c.Data.(type) {
	case []int32:
		return func(i int) int64 { return int64(values[i]) }, nil
	case []int64:
		return func(i int) int64 { return values[i] }, nil
	case []uint32:
		return func(i int) int64 { return int64(values[i]) }, nil
	}
	return nil, fmt.Errorf("table %s: column %s holds no whole numbers", t.Name, name)
}

func (t *Trace) readEvents(events *table.Table) error {
	tid, err1 := numbers(events, "tid")
	expected, err2 := numbers(events, "expected")
	block, err3 := numbers(events, "block")
	for _, err := range []error{err1, err2, err3} {
		if err != nil {
			return err
		}
	}
	var log Log
	for i := range events.Rows() {
		if len(log.order) > maxThreads {
			return fmt.Errorf("table %s has more than %d threads", events.Name, maxThreads)
		}
		to := uint32(block(i))
		if block(i) == stopped {
			to, t.Stopped = None, true
		}
		log.Add(uint32(tid(i)), uint64(uint32(expected(i))), to)
	}
	var err error
	t.Threads, err = log.Threads()
	return err
}

func (t *Trace) readCode(code *table.Table) error {
	ip, err1 := addresses(code, "ip")
	start, err2 := addresses(code, "start")
	for _, err := range []error{err1, err2} {
		if err != nil {
			return err
		}
	}
	columns := map[string]func(int) int64{}
	for _, name := range []string{"length", "ending", "access", "line", "column", "element"} {
		get, err := numbers(code, name)
		if err != nil {
			return err
		}
		columns[name] = get
	}
	home, function, file := code.Column("home"), code.Column("function"), code.Column("file")
	if home == nil || function == nil || file == nil || home.Dict == nil && len(ip) > 0 {
		return fmt.Errorf("table %s has no names", code.Name)
	}
	t.Code = make([]Instruction, len(ip))
	for i := range t.Code {
		access := columns["access"](i)
		t.Code[i] = Instruction{PC: ip[i], Function: start[i], Length: uint8(columns["length"](i)), Ending: Ending(min(columns["ending"](i), int64(Branch))),
			Loads: access&1 != 0, Stores: access&2 != 0, Unhooked: access == unhooked, Column: int(columns["column"](i)), Element: uint8(columns["element"](i)), Home: home.Text(i),
			Place: refs.Place{Function: function.Text(i), File: file.Text(i), Line: int(columns["line"](i))}}
	}
	return nil
}
