package tree

// Pairing is one loop of two traces; nil where one does not have it.
type Pairing struct {
	File, Text    string
	Before, After *Loop
}

// Pair puts the loops of two traces side by side: those with the same text in
// the same function, in order. Lines may have moved. Loops that make no
// references are left out.
func Pair(before, after *Tree) []Pairing {
	type header struct{ function, text string }
	later := map[header][]*Loop{}
	for i := range after.Loops {
		if l := &after.Loops[i]; l.References > 0 {
			h := header{l.Function, l.Text}
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
		p := Pairing{File: l.File, Text: l.Text, Before: l}
		h := header{l.Function, l.Text}
		if rest := later[h]; len(rest) > 0 {
			p.After, later[h] = rest[0], rest[1:]
			paired[p.After] = true
		}
		out = append(out, p)
	}
	for i := range after.Loops {
		if l := &after.Loops[i]; l.References > 0 && !paired[l] {
			out = append(out, Pairing{File: l.File, Text: l.Text, After: l})
		}
	}
	return out
}
