package tree

import "cmp"

// Pairing is one loop of two traces; nil where one does not have it.
type Pairing struct {
	File, Text    string
	Before, After *Loop
}

// pairText is what loops of two traces must share to be one.
func (l *Loop) pairText() string { return cmp.Or(l.Text, l.Where()) }

// Pair puts the loops of two traces side by side: those with the same text in
// the same function, in order. Lines may have moved. Code without a text is paired
// by its address: what was built anew is then there once and once, which is better
// than beside a stranger. Loops that make no references are left out.
func Pair(before, after *Tree) []Pairing {
	type header struct{ function, text string }
	later := map[header][]*Loop{}
	for i := range after.Loops {
		if l := &after.Loops[i]; l.References > 0 {
			h := header{l.Function, l.pairText()}
			later[h] = append(later[h], l)
		}
	}
	var out []Pairing
	paired := map[*Loop]bool{}
	for i := range before.Loops {
		l := &before.Loops[i]
		if l.References == 0 {
			continue
		}
		p := Pairing{File: l.File, Text: l.pairText(), Before: l}
		h := header{l.Function, l.pairText()}
		if rest := later[h]; len(rest) > 0 {
			p.After, later[h] = rest[0], rest[1:]
			paired[p.After] = true
		}
		out = append(out, p)
	}
	for i := range after.Loops {
		if l := &after.Loops[i]; l.References > 0 && !paired[l] {
			out = append(out, Pairing{File: l.File, Text: l.pairText(), After: l})
		}
	}
	return out
}
