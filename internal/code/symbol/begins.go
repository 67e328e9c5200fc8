package symbol

import (
	"cmp"
	"debug/dwarf"
	"path"
	"slices"
	"sort"
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
	u := b.dwarf.unitAt(low)
	if u == nil {
		return nil
	}
	u.onceBegins.Do(func() { u.begins = u.readBegins(b.dwarf) })
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
			name = path.Clean(e.File.Name)
			names[e.File] = name
		}
		all = append(all, Begin{e.Address, name, e.Line, e.Column})
	}
	slices.SortStableFunc(all, func(a, b Begin) int { return cmp.Compare(a.Addr, b.Addr) })
	return all
}
