package server

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
)

// mostInstructions bounds an answer; longer functions are cut.
const mostInstructions = 4000

func (s *Server) assembly(w http.ResponseWriter, r *http.Request, run *Run) error {
	var a AskAssembly
	if err := readJSON(w, r, &a); err != nil {
		return err
	}
	rows, err := run.rowsOf(r.Context(), a.Filter, a.Where)
	if err != nil {
		return err
	}
	counts := countCode(run.Data.Table, rows)
	if counts == nil {
		return badRequest("these samples do not say which instructions they are")
	}
	list := run.Code
	partial := list == nil
	if partial {
		list = counts.listing()
	}
	out, err := listAssembly(list, counts, &a)
	if err != nil {
		return err
	}
	out.Partial = partial
	return s.answerJSON(w, r, http.StatusOK, out)
}

// codeKey is an instruction: its module, and its address in it.
type codeKey struct {
	module string
	addr   uint64
}

// codeCounts is the samples by instruction.
type codeCounts struct {
	t       *table.Table
	byCode  map[codeKey]*Instruction
	row     map[codeKey]int // one sample of each
	ordered []codeKey
}

// countCode counts the rows by instruction: by the address in the module, or by
// the sampled address itself where that is all there is.
func countCode(t *table.Table, rows table.Bits) *codeCounts {
	code := t.Column("code")
	if code == nil || code.Kind != table.Address {
		code = t.Column("ip")
	}
	if code == nil || code.Kind != table.Address {
		return nil
	}
	module, latency := t.Column("module"), samples.UsableLatency(t)
	c := &codeCounts{t: t, byCode: map[codeKey]*Instruction{}, row: map[codeKey]int{}}
	addrs := code.Data.([]uint64)
	for i := range t.Rows() {
		if rows != nil && !rows.Get(i) || !code.Has(i) {
			continue
		}
		k := codeKey{addr: addrs[i]}
		if module != nil {
			k.module = module.Text(i)
		}
		in := c.byCode[k]
		if in == nil {
			in = &Instruction{}
			c.byCode[k], c.row[k] = in, i
			c.ordered = append(c.ordered, k)
		}
		in.Samples++
		if latency != nil && latency.Has(i) {
			in.Latency += latency.Float(i)
		}
	}
	slices.SortFunc(c.ordered, func(a, b codeKey) int { return cmp.Or(cmp.Compare(a.module, b.module), cmp.Compare(a.addr, b.addr)) })
	return c
}

// listing makes a table of the sampled instructions alone.
func (c *codeCounts) listing() *table.Table {
	n := len(c.ordered)
	addrs, lines, valid := make([]uint64, n), make([]int64, n), table.NewBits(n)
	names := map[string]*table.Interner{}
	codes := map[string][]uint32{}
	columns := []string{"module", "function", "file", "instruction"}
	for _, name := range columns {
		names[name] = table.NewInterner()
	}
	line := c.t.Column("line")
	for i, k := range c.ordered {
		addrs[i] = k.addr
		row := c.row[k]
		if line != nil && line.Kind == table.Number && line.Has(row) {
			lines[i] = int64(line.Float(row))
			valid.Set(i)
		}
		for _, name := range columns {
			text := ""
			if col := c.t.Column(name); col != nil {
				text = col.Text(row)
			}
			codes[name] = append(codes[name], names[name].CodeString(text))
		}
	}
	list := []*table.Column{table.Addresses("code", table.Derived, addrs, nil), table.Ints("line", "", table.Derived, lines, valid)}
	for _, name := range columns {
		if codes[name] == nil {
			codes[name] = []uint32{}
		}
		list = append(list, table.Categories(name, table.Derived, codes[name], names[name].Names(), nil))
	}
	t, err := table.New("code", list)
	if err != nil {
		panic(err) // all columns have one value an instruction
	}
	return t
}

// codeTable is the columns of a listing.
type codeTable struct {
	rows                                int
	addr                                []uint64
	module, function, file, instruction *table.Column
	line                                *table.Column
}

func codeColumns(t *table.Table) (*codeTable, error) {
	c := &codeTable{rows: t.Rows(), line: t.Column("line")}
	for name, to := range map[string]**table.Column{"module": &c.module, "function": &c.function, "file": &c.file, "instruction": &c.instruction} {
		if *to = t.Column(name); *to == nil || (*to).Kind != table.Category {
			return nil, fmt.Errorf("the table of machine code has no column %s", name)
		}
	}
	code := t.Column("code")
	if code == nil || code.Kind != table.Address || c.line == nil || c.line.Kind != table.Number {
		return nil, fmt.Errorf("the table of machine code has no addresses or no lines")
	}
	c.addr = code.Data.([]uint64)
	return c, nil
}

// owner is a function of a module, by the codes of its names.
type owner struct{ module, function uint32 }

func (c *codeTable) owner(i int) owner {
	return owner{c.module.Data.([]uint32)[i], c.function.Data.([]uint32)[i]}
}

func (c *codeTable) lineAt(i int) int {
	if !c.line.Has(i) {
		return 0
	}
	return int(c.line.Float(i))
}

// owners returns the functions that a source line is in, most samples first.
func (c *codeTable) owners(counts *codeCounts, file string, line int) []owner {
	weight := map[owner]int{}
	var out []owner
	for i := range c.rows {
		if c.lineAt(i) != line || c.file.Text(i) != file {
			continue
		}
		o := c.owner(i)
		if _, seen := weight[o]; !seen {
			out = append(out, o)
			weight[o] = 0
		}
		if n := counts.byCode[codeKey{c.module.Text(i), c.addr[i]}]; n != nil {
			weight[o] += n.Samples
		}
	}
	slices.SortStableFunc(out, func(x, y owner) int { return weight[y] - weight[x] })
	return out
}

// listAssembly returns the function that has most samples of a line, or the one
// asked for.
func listAssembly(list *table.Table, counts *codeCounts, a *AskAssembly) (*Assembly, error) {
	c, err := codeColumns(list)
	if err != nil {
		return nil, err
	}
	out := &Assembly{Functions: []string{}, Instructions: []Instruction{}}
	owners := c.owners(counts, a.File, a.Line)
	chosen := -1
	for i, o := range owners {
		name := c.function.Dict[o.function]
		out.Functions = append(out.Functions, name)
		if chosen < 0 && (a.Function == "" || a.Function == name) {
			chosen = i
		}
	}
	if chosen < 0 {
		return out, nil
	}
	want := owners[chosen]
	out.Function, out.Module = c.function.Dict[want.function], c.module.Dict[want.module]
	seen := map[uint64]bool{} // the runs of ranks, merged, have the same code
	for i := range c.rows {
		if c.owner(i) != want || len(out.Instructions) == mostInstructions || seen[c.addr[i]] {
			continue
		}
		seen[c.addr[i]] = true
		one := Instruction{Addr: fmt.Sprintf("%#x", c.addr[i]), Text: c.instruction.Text(i), File: c.file.Text(i), Line: c.lineAt(i)}
		if n := counts.byCode[codeKey{out.Module, c.addr[i]}]; n != nil {
			one.Samples, one.Latency = n.Samples, n.Latency
		}
		out.Instructions = append(out.Instructions, one)
	}
	return out, nil
}
