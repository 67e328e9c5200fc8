package symbol

import (
	"cmp"
	"debug/dwarf"
	"slices"
	"sort"
	"strings"

	"github.com/isobath/isobath/internal/data/refs"
)

// Begin is a place in the code where a statement of the source begins. Several
// may begin at one address: those whose code was optimised away, or moved.
type Begin struct {
	Addr   uint64 // link-time
	File   string
	Line   int
	Column int // 0 if unknown
}

// Begins returns the statements that begin in a range of link-time addresses of
// one compilation unit. Compilers keep these marks where they copy code: a turn
// of a loop that was peeled off has them too.
func (b *Binary) Begins(low, high uint64) []Begin {
	u := b.dwarf().unitAt(low)
	if u == nil {
		return nil
	}
	u.onceBegins.Do(func() { u.begins = u.readBegins(b.dwarf()) })
	from := sort.Search(len(u.begins), func(i int) bool { return u.begins[i].Addr >= low })
	to := sort.Search(len(u.begins), func(i int) bool { return u.begins[i].Addr >= high })
	return u.begins[from:max(from, to)]
}

// readBegins reads the line table again: few units are ever asked.
func (u *unit) readBegins(d *debugInfo) (all []Begin) {
	var err error
	defer guard(&err, "line table") // what can be read before damage is kept
	r := d.data.Reader()
	r.Seek(u.first)
	root, err := r.Next()
	if err != nil || root == nil {
		return nil
	}
	lr, err := d.lineReader(root)
	if err != nil || lr == nil {
		return nil
	}
	names := map[*dwarf.LineFile]string{}
	var e dwarf.LineEntry
	for lr.Next(&e) == nil {
		if e.EndSequence || !e.IsStmt || e.File == nil {
			continue
		}
		name, ok := names[e.File]
		if !ok {
			name = sourceName(root, e.File.Name)
			names[e.File] = name
		}
		all = append(all, Begin{e.Address, name, e.Line, e.Column})
	}
	slices.SortStableFunc(all, func(a, b Begin) int { return cmp.Compare(a.Addr, b.Addr) })
	return all
}

// Lines returns the code of a source line, by link-time addresses, in order. The
// file is named by its path or the end of it. Where the line has none, near is the
// next line of the file that has.
func (b *Binary) Lines(file string, line int) (pieces []refs.Range, near int) {
	d := b.dwarf()
	if d == nil {
		return nil, 0
	}
	for _, u := range d.units {
		u.readOnce(d)
		for _, sequence := range u.sequences.sorted {
			if !b.image.executable(sequence.low) {
				continue // code that the linker left out
			}
			rows := u.rows[u.spans[sequence.item][0]:u.spans[sequence.item][1]]
			for i, r := range rows {
				name := u.file(r.file())
				if name != file && !strings.HasSuffix(name, "/"+file) {
					continue
				}
				if int(r.line) > line && (near == 0 || int(r.line) < near) {
					near = int(r.line)
				}
				end := sequence.high
				if i+1 < len(rows) {
					end = rows[i+1].addr
				}
				if int(r.line) == line && end > r.addr {
					pieces = append(pieces, refs.Range{Low: r.addr, High: end})
				}
			}
		}
	}
	return joined(pieces), near
}

// joined puts ranges in order, and those together that touch.
func joined(pieces []refs.Range) []refs.Range {
	slices.SortFunc(pieces, func(a, b refs.Range) int { return cmp.Compare(a.Low, b.Low) })
	var out []refs.Range
	for _, r := range pieces {
		if n := len(out); n > 0 && r.Low <= out[n-1].High {
			out[n-1].High = max(out[n-1].High, r.High)
			continue
		}
		out = append(out, r)
	}
	return out
}
