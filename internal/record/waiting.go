package record

import (
	"path"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
)

// A thread that waits in a loop reads one word over and over. Its samples are run
// time, but no memory traffic: they get a column of their own that says for what
// they wait, and in place of an object the same words.

// runtimes are the libraries whose loops are known, by the start of their names.
var runtimes = []struct{ library, waits string }{
	{"libgomp", "OpenMP"}, {"libomp", "OpenMP"}, {"libiomp", "OpenMP"},
	{"libmpi", "MPI"}, {"libmpich", "MPI"}, {"libopen-pal", "MPI"}, {"libopen-rte", "MPI"}, {"libucp", "MPI"}, {"libucs", "MPI"}, {"libuct", "MPI"}, {"libfabric", "MPI"}, {"libpsm", "MPI"}, {"libpmix", "MPI"},
	{"libc.so", "lock"}, {"libc-", "lock"}, {"libpthread", "lock"}, {"libtbb", "TBB"},
}

// waitsIn says for what a loop of a library or program waits.
func waitsIn(module string) string {
	name := path.Base(module)
	for _, r := range runtimes {
		if strings.HasPrefix(name, r.library) {
			return r.waits
		}
	}
	return "another thread"
}

// messageCall returns the function of MPI that a stack is in, "" if it is in none.
func messageCall(frames []symbol.Frame) string {
	for _, f := range frames {
		name := strings.TrimPrefix(f.Function, "P")
		if strings.HasPrefix(name, "MPI_") {
			return name
		}
	}
	return ""
}

// region is the innermost function of a stack that belongs to no runtime: where
// the program waits.
func region(frames []symbol.Frame) string {
	for _, f := range slices.Backward(frames) {
		name := strings.ToLower(f.Function)
		if name == "" || strings.Contains(name, "+0x") || slices.ContainsFunc(runtimeFunctions, func(p string) bool { return strings.HasPrefix(name, p) }) {
			continue
		}
		return f.Function
	}
	return ""
}

var runtimeFunctions = []string{"gomp_", "omp_", "__kmp", "kmp", "mpi_", "pmpi_", "mpir_", "mpid", "ompi_", "opal_", "mca_", "ucp_", "uct_", "ucs_", "pthread_", "__pthread", "start_thread", "clone", "__clone", "_start", "__libc_start", "?"}

// waiting returns the columns about waiting, and changes those of objects: nothing
// for a program that does not wait.
func (c *collector) waiting(names []*table.Column) []*table.Column {
	n := len(c.rows)
	column := func(name string) *table.Column {
		for _, k := range names {
			if k.Name == name && k.Kind == table.Category {
				return k
			}
		}
		return nil
	}
	module, stack := column("module"), column("stack")
	waits, where := table.NewInterner(), table.NewInterner()
	waitCode, whereCode := make([]uint32, n), make([]uint32, n)
	waitHas, whereHas := table.NewBits(n), table.NewBits(n)
	parsed := stackWaits(stack)
	for i := range c.rows {
		text, in := "", ""
		if stack != nil && stack.Has(i) {
			w := parsed[stack.Data.([]uint32)[i]]
			text, in = w.call, w.region
		}
		if text == "" && c.rows[i].spins {
			text = waitsIn(cellText(module, i))
		}
		if text == "" {
			continue
		}
		waitCode[i] = waits.CodeString(text)
		waitHas.Set(i)
		if in != "" {
			whereCode[i] = where.CodeString(in)
			whereHas.Set(i)
		}
	}
	if waitHas.Count() == 0 {
		return names
	}
	wait := table.Categories(samples.Waiting, table.Derived, waitCode, waits.Names(), waitHas)
	wait.Note = "the thread waits: it spins for others, or is in a call of MPI; not memory traffic"
	names = append(renamedObjects(names, wait, func(i int, _ string) string { return "waiting: " + wait.Text(i) }), wait)
	if whereHas.Count() > 0 {
		at := table.Categories("waiting_in", table.Derived, whereCode, where.Names(), whereHas)
		at.Note = "the innermost function of the program that waits"
		names = append(names, at)
	}
	return names
}

// stackWait is what a stack says about waiting.
type stackWait struct{ call, region string }

// stackWaits looks at each distinct stack once.
func stackWaits(stack *table.Column) []stackWait {
	if stack == nil {
		return nil
	}
	out := make([]stackWait, len(stack.Dict))
	for i, text := range stack.Dict {
		frames := symbol.ParseStack(text)
		out[i] = stackWait{messageCall(frames), region(frames)}
	}
	return out
}

func cellText(c *table.Column, i int) string {
	if c == nil || !c.Has(i) {
		return ""
	}
	return c.Text(i)
}

// renamedObjects gives the samples that another column tells of a name in place of
// the object that their address happens to lie in, which is given to it.
func renamedObjects(names []*table.Column, of *table.Column, name func(i int, object string) string) []*table.Column {
	at := slices.IndexFunc(names, func(c *table.Column) bool { return c.Name == "symbol" && c.Kind == table.Category })
	if at < 0 {
		return names
	}
	old := names[at]
	in := table.NewInterner()
	codes, has := make([]uint32, old.Len()), table.NewBits(old.Len())
	for i := range codes {
		switch {
		case of.Has(i):
			codes[i] = in.CodeString(name(i, cellText(old, i)))
		case old.Has(i):
			codes[i] = in.CodeString(old.Text(i))
		default:
			continue
		}
		has.Set(i)
	}
	symbol := table.Categories(old.Name, old.Provenance, codes, in.Names(), has)
	symbol.Note = old.Note
	names = slices.Clone(names)
	names[at] = symbol
	return names
}
