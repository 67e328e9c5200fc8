package symbol

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/base/parallel"
	"github.com/isobath/isobath/internal/data/table"
)

// Samples are the columns that attribution starts from. Columns that a source
// does not have are nil; all others have one value a row.
type Samples struct {
	Rows     int
	Pid, Tid []int32  // nil: one process, 0
	Time     []uint64 // in the clock of the mappings; nil: all at the end
	PC, Addr []uint64
	SP       []uint64 // stack pointers, 0 where unknown
	// HasPC and HasAddr say which rows have a value; nil means all.
	HasPC, HasAddr table.Bits
	// Told are objects that something else knows, for addresses in memory without a
	// name; nil where nothing does.
	Told []*Object
	// Chain holds the return addresses of all rows, innermost caller first and
	// without the sampled instruction itself; row i has Chain[ChainAt[i]:ChainAt[i+1]].
	Chain   []uint64
	ChainAt []int
}

func (s *Samples) pid(i int) int {
	if s.Pid == nil {
		return 0
	}
	return int(s.Pid[i])
}

func (s *Samples) tid(i int) int {
	if s.Tid == nil {
		return s.pid(i)
	}
	return int(s.Tid[i])
}

func (s *Samples) time(i int) uint64 {
	if s.Time == nil {
		return ^uint64(0)
	}
	return s.Time[i]
}

// order returns the rows by time, nil if they are in that order already:
// mappings are replayed, and going back starts the replay again.
func (s *Samples) order() []int32 {
	if s.Time == nil || slices.IsSorted(s.Time) {
		return nil
	}
	rows := make([]int32, s.Rows)
	for i := range rows {
		rows[i] = int32(i)
	}
	slices.SortStableFunc(rows, func(a, b int32) int { return cmp.Compare(s.Time[a], s.Time[b]) })
	return rows
}

// each calls f for every row in order of time.
func (s *Samples) each(f func(row int)) {
	order := s.order()
	for i := range s.Rows {
		if order != nil {
			i = int(order[i])
		}
		f(i)
	}
}

// Resolver turns addresses into names.
type Resolver struct {
	Space   *Space
	Files   *Files
	Objects *Objects // nil: made from Space and Files
	// Generated has the names of code that is in no file; nil if there are none.
	Generated *Generated

	sites   []site
	numbers map[siteKey]int32
	memo    map[memoKey]memo
	missing map[string]string // why a file could not be opened, by path
}

// site is one distinct instruction.
type site struct {
	siteKey
	module      string
	location    Location
	instruction Instruction
}

// siteKey is an instruction: of a binary by its link-time address, of the
// kernel or of nothing known by itself, of generated code by its function too.
type siteKey struct {
	binary    *Binary
	module    string
	addr      uint64
	generated int32 // 1 and more: number of the function
}

type memoKey struct {
	pid int
	pc  uint64
}

type memo struct {
	changes int
	mapping *Mapping
	site    int32
}

// NewResolver returns a resolver over what a recording said.
func NewResolver(space *Space, files *Files, objects *Objects) *Resolver {
	if objects == nil {
		objects = NewObjects(space, files, nil)
	}
	return &Resolver{Space: space, Files: files, Objects: objects, numbers: map[siteKey]int32{}, memo: map[memoKey]memo{}, missing: map[string]string{}}
}

// Columns returns the columns that say what the addresses of samples mean:
// function, file, line, module, inline, instruction, access, access_width and code for PC; stack and caller for Chain;
// symbol, source, offset, field, index, x, y and z for Addr. Columns without any value are left
// out. Each distinct instruction is looked up once.
func (r *Resolver) Columns(ctx context.Context, s *Samples) ([]*table.Column, error) {
	var out []*table.Column
	if s.PC != nil {
		columns, err := r.code(ctx, s)
		if err != nil {
			return nil, err
		}
		out = append(out, columns...)
	}
	if s.ChainAt != nil {
		columns, err := r.stacks(ctx, s)
		if err != nil {
			return nil, err
		}
		out = append(out, columns...)
	}
	if s.Addr != nil {
		d := r.Accesses()
		d.Add(s)
		columns, err := d.Columns()
		if err != nil {
			return nil, err
		}
		out = append(out, columns...)
	}
	return out, ctx.Err()
}

// Warnings are sentences about binaries that could not be read. Files of the reader
// itself are left out.
func (r *Resolver) Warnings(own ...string) []string {
	var out []string
	for path, why := range r.missing {
		if !slices.Contains(own, path) {
			out = append(out, fmt.Sprintf("no symbols of %s: %s", path, why))
		}
	}
	asked := map[*Binary]bool{}
	without := map[string][]string{} // programs without source lines, by the reason
	for _, s := range r.sites {
		if s.binary == nil || asked[s.binary] || slices.Contains(own, s.binary.Path) {
			continue
		}
		asked[s.binary] = true
		if why := s.binary.NoLines(); why != "" && s.module != vdsoName {
			without[why] = append(without[why], s.binary.Path)
		}
		for _, gap := range s.binary.Gaps() {
			out = append(out, fmt.Sprintf("%s: %s", s.binary.Path, gap))
		}
	}
	for why, paths := range without {
		var packages []string
		if why == noDebug && !r.Files.Elsewhere {
			packages = debugPackages(dpkgLists, paths)
		}
		out = append(out, noLines(paths, why, packages, why == noDebug && !r.Files.Elsewhere && asksServers()))
	}
	slices.Sort(out)
	return out
}

// noLines says once of all programs that have no source lines for one reason,
// and names a few of them: a program may have fifty libraries. Packages are where the
// distribution has what is missing; servers may be asked for it.
func noLines(paths []string, why string, packages []string, servers bool) string {
	slices.Sort(paths)
	said := fmt.Sprintf("no source lines of %s: %s", paths[0], why)
	if len(paths) > 1 {
		said = fmt.Sprintf("no source lines of %d programs and libraries (%s): %s", len(paths), aFew(paths), why)
	}
	if len(packages) > 0 {
		said += "; those of the distribution have it in " + aFew(packages)
	}
	if servers {
		said += fmt.Sprintf("; 'debuginfod-find debuginfo %s' asks the servers of DEBUGINFOD_URLS", paths[0])
	}
	return said
}

// aFew names the first ones.
func aFew(names []string) string {
	const named = 3
	list := strings.Join(names[:min(len(names), named)], ", ")
	if more := len(names) - named; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

// none is the site of a row without an address.
const none = -1

// number returns the site of an instruction.
func (r *Resolver) number(pid int, at, pc uint64) int32 {
	key := memoKey{pid, pc}
	m := r.Space.Find(pid, at, pc)
	if m == nil || m.Named() || m.inMemory() {
		if n := r.Generated.find(pid, at, pc); n != none {
			return r.site(siteKey{module: generatedModule, addr: pc, generated: n + 1})
		}
	}
	if got, ok := r.memo[key]; ok && (got.changes == r.Space.changes || got.mapping == m) {
		return got.site
	}
	n := r.find(m, pc)
	r.memo[key] = memo{r.Space.changes, m, n}
	return n
}

func (r *Resolver) find(m *Mapping, pc uint64) int32 {
	key := siteKey{addr: pc}
	switch {
	case pc>>63 == 1:
		key.module = "[kernel]"
	case m == nil:
		key.module = ""
	case m.Named() && !m.VDSO():
		key.module = m.Path
	default:
		key.module = path.Base(m.Path)
		if b, err := r.Files.Open(m.Path, m.BuildID); err != nil {
			if !m.VDSO() { // its name says enough
				r.missing[m.Path] = err.Error()
			}
			key.addr = pc - m.Start + m.Offset
		} else if bias, ok := b.Bias(m); ok {
			key.binary, key.addr = b, pc-bias
		}
	}
	return r.site(key)
}

// site returns the number of an instruction.
func (r *Resolver) site(key siteKey) int32 {
	n, ok := r.numbers[key]
	if !ok {
		n = int32(len(r.sites))
		r.numbers[key] = n
		r.sites = append(r.sites, site{siteKey: key})
	}
	return n
}

// generatedModule stands for the file that generated code does not have.
const generatedModule = "[generated]"

// locate looks up the sites from a number on, as many at once as there are
// processors. They are handed out by binary and address, so that neighbours,
// which are in the same unit, are looked up together.
func (r *Resolver) locate(ctx context.Context, from int) error {
	list := make([]*site, 0, len(r.sites)-from)
	for i := from; i < len(r.sites); i++ {
		list = append(list, &r.sites[i])
	}
	slices.SortFunc(list, func(a, b *site) int {
		return cmp.Or(strings.Compare(a.module, b.module), cmp.Compare(a.addr, b.addr))
	})
	const batch = 512
	return parallel.Each(ctx, (len(list)+batch-1)/batch, func(_ context.Context, _, i int) error {
		for _, s := range list[i*batch : min((i+1)*batch, len(list))] {
			r.describe(s)
		}
		return nil
	})
}

func (r *Resolver) describe(s *site) {
	s.module = s.siteKey.module
	switch {
	case s.generated > 0:
		s.location.Frames = []Frame{r.Generated.all[s.generated-1].frameAt(s.addr)}
	case s.binary != nil:
		s.location = s.binary.Locate(s.addr)
		s.instruction = s.binary.Instruction(s.addr)
	case s.siteKey.module == "[kernel]":
		if name, module, ok := r.Files.Kernel().Function(s.addr); ok {
			s.location.Frames = []Frame{{Function: name}}
			if module != "" {
				s.module = "[" + module + "]"
			}
		}
	}
	if len(s.location.Frames) == 0 && s.module != "" {
		// Never drop a sample: without symbols it still has a place.
		s.location.Frames = []Frame{{Function: fmt.Sprintf("%s+%#x", s.module, s.addr)}}
	}
}

// code returns the columns of instructions.
func (r *Resolver) code(ctx context.Context, s *Samples) ([]*table.Column, error) {
	sites := make([]int32, s.Rows)
	known := len(r.sites)
	s.each(func(i int) {
		sites[i] = none
		if s.HasPC == nil || s.HasPC.Get(i) {
			sites[i] = r.number(s.pid(i), s.time(i), s.PC[i])
		}
	})
	if err := r.locate(ctx, known); err != nil {
		return nil, err
	}
	columns := []*table.Column{
		r.names("function", "innermost function, inlined ones included", sites, func(x *site) string { return x.location.Inner().Function }),
		r.names("file", "of the innermost function", sites, func(x *site) string { return x.location.Inner().File }),
		r.positive("line", "", "from the line table of the program", sites, func(x *site) int { return x.location.Inner().Line }),
		r.names("module", "program or library of the instruction", sites, func(x *site) string { return x.module }),
		r.names("inline", "the functions that the innermost one was inlined into", sites, (*site).inline),
		r.names("instruction", "decoded from the file of the program", sites, func(x *site) string { return x.instruction.Text }),
		r.names("access", "what the instruction does with memory, by its code", sites, func(x *site) string { return x.instruction.accessName() }),
		r.positive("access_width", "bytes", "of the access, by the code of the instruction", sites, func(x *site) int { return x.instruction.Width }),
		r.places(sites),
	}
	return slices.DeleteFunc(columns, func(c *table.Column) bool { return c == nil }), nil
}

// inline names what the innermost function was inlined into, nearest first.
func (s *site) inline() string {
	if len(s.location.Frames) < 2 {
		return ""
	}
	var names []string
	for _, f := range s.location.Frames[1:] {
		names = append(names, f.Function)
	}
	return strings.Join(names, " ← ")
}

// names makes a category column by site; nil if no row has a value.
func (r *Resolver) names(name, note string, sites []int32, text func(*site) string) *table.Column {
	in := table.NewInterner()
	bySite := make([]int32, len(r.sites))
	for i := range r.sites {
		bySite[i] = none
		if t := text(&r.sites[i]); t != "" {
			bySite[i] = int32(in.CodeString(t))
		}
	}
	return byNumber(name, note, sites, bySite, in)
}

// byNumber makes a category column of rows that have numbers, each with the code of
// a name or none; nil if no row has one.
func byNumber(name, note string, rows, codeOf []int32, names *table.Interner) *table.Column {
	codes, valid := make([]uint32, len(rows)), table.NewBits(len(rows))
	for i, n := range rows {
		if n >= 0 && codeOf[n] >= 0 {
			codes[i] = uint32(codeOf[n])
			valid.Set(i)
		}
	}
	if valid.Count() == 0 {
		return nil
	}
	c := table.Categories(name, table.Derived, codes, names.Names(), valid)
	c.Note = note
	return c
}

// places is the address of each instruction in its file, which does not depend
// on where the file was mapped.
func (r *Resolver) places(sites []int32) *table.Column {
	values, valid := make([]uint64, len(sites)), table.NewBits(len(sites))
	for i, n := range sites {
		if n >= 0 && r.sites[n].binary != nil {
			values[i] = r.sites[n].addr
			valid.Set(i)
		}
	}
	if valid.Count() == 0 {
		return nil
	}
	c := table.Addresses("code", table.Derived, values, valid)
	c.Note = "address of the instruction in the file of its module"
	return c
}

// positive makes a column of positive numbers by site; nil if no row has one.
func (r *Resolver) positive(name, unit, note string, sites []int32, number func(*site) int) *table.Column {
	values, valid := make([]int64, len(sites)), table.NewBits(len(sites))
	for i, n := range sites {
		if n < 0 {
			continue
		}
		if v := number(&r.sites[n]); v > 0 {
			values[i] = int64(v)
			valid.Set(i)
		}
	}
	if valid.Count() == 0 {
		return nil
	}
	c := table.Ints(name, unit, table.Derived, values, valid)
	c.Note = note
	return c
}
