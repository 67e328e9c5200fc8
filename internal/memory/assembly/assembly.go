// Package assembly lists the machine code of a function with the samples on its
// instructions.
package assembly

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

// mostInstructions bounds an answer; longer functions are cut.
const mostInstructions = 4000

// Assembly is the code of one function. Functions are all that the line is in:
// it may have been inlined into several. Partial says that only sampled
// instructions are known, because the program was not at hand at import.
type Assembly struct {
	Function     string        `json:"function"`
	Functions    []string      `json:"functions"`
	Module       string        `json:"module"`
	Partial      bool          `json:"partial"`
	Instructions []Instruction `json:"instructions"`
}

// Instruction is one line of assembly. Samples and Latency are of the
// selection.
type Instruction struct {
	Addr    string  `json:"addr"`
	Text    string  `json:"text"`
	File    string  `json:"file"`
	Line    int     `json:"line"` // 0 if not known
	Samples int     `json:"samples"`
	Latency float64 `json:"latency"`
}

// Ask says which code is wanted: the function of a name, or the one in which a
// line has most samples. With both it is the function of that name of those that
// the line is in.
type Ask struct {
	File     string
	Line     int
	Function string
}

// List returns the machine code of a function with the samples of rows (nil:
// all) on its instructions. code is the listing that was kept with the run; nil:
// only sampled instructions are known.
func List(ctx context.Context, samples *table.Table, rows table.Bits, code *table.Table, ask Ask) (*Assembly, error) {
	counts, err := countCode(ctx, samples, rows)
	if err != nil {
		return nil, err
	}
	partial := code == nil
	if partial {
		code = counts.listing()
	}
	out, err := listAssembly(ctx, code, counts, &ask)
	if err != nil {
		return nil, err
	}
	out.Partial = partial
	return out, nil
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
func countCode(ctx context.Context, t *table.Table, rows table.Bits) (*codeCounts, error) {
	code := t.Column("code")
	if code == nil || code.Kind != table.Address {
		code = t.Column("ip")
	}
	if code == nil || code.Kind != table.Address {
		return nil, query.Refuse("these samples do not say which instructions they are")
	}
	module, latency := t.Column("module"), samples.UsableLatency(t)
	c := &codeCounts{t: t, byCode: map[codeKey]*Instruction{}, row: map[codeKey]int{}}
	addrs := code.Data.([]uint64)
	for i := range table.Scan(ctx, rows, t.Rows()) {
		if !code.Has(i) {
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
	return c, ctx.Err()
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

// owners returns the functions that a source line is in, or without a line those
// of a name, or all; most samples first.
func (c *codeTable) owners(counts *codeCounts, a *Ask) []owner {
	weight := map[owner]int{}
	var out []owner
	for i := range c.rows {
		if a.Line > 0 && (c.lineAt(i) != a.Line || !meant(c.file.Text(i), a.File)) {
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
func listAssembly(ctx context.Context, list *table.Table, counts *codeCounts, a *Ask) (*Assembly, error) {
	c, err := codeColumns(list)
	if err != nil {
		return nil, err
	}
	out := &Assembly{Functions: []string{}, Instructions: []Instruction{}}
	owners := c.owners(counts, a)
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
	for i := range table.Scan(ctx, nil, c.rows) {
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
	return out, ctx.Err()
}

// meant reports whether a file of the run is the one that was asked for, whose
// folders may be left out.
func meant(file, asked string) bool {
	return file == asked || strings.HasSuffix(file, "/"+asked)
}
