package advice

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/isobath/isobath/internal/locality/replay"
	"github.com/isobath/isobath/internal/loops/tree"
)

// header is a loop of a nest as it is written.
type header struct {
	name  string
	text  string // of the source; empty: only its turns are known
	begin string // its parts, where it counts up by one
	limit string // beyond the last, or the last itself if inclusive
	kind  string // of the variable, declared in the header
	// outside says that it is not in the function: it calls it.
	outside bool
}

var (
	cHeader       = regexp.MustCompile(`^for\s*\(\s*((?:[A-Za-z_][\w:]*[\s*&]+)*)([A-Za-z_]\w*)\s*=\s*([^;,]+);\s*([A-Za-z_]\w*)\s*(<=?)\s*([^;,]+);\s*(?:([A-Za-z_]\w*)\s*\+\+|\+\+\s*([A-Za-z_]\w*)|([A-Za-z_]\w*)\s*\+=\s*1)\s*\)`)
	fortranHeader = regexp.MustCompile(`(?i)^(?:[a-z]\w*\s*:\s*)?do\s+(?:\d+\s*,?\s*)?([a-z]\w*)\s*=\s*([^,]+),\s*([^,!]+?)\s*(?:!.*)?$`)
	// startedHeader has the variable of a loop that counts in another way.
	startedHeader = regexp.MustCompile(`^for\s*\(\s*(?:[A-Za-z_][\w:<>]*[\s*&]+)*([A-Za-z_]\w*)\s*=[^=]|^for\s+([A-Za-z_]\w*)\s*:=|^(?i:do)\s+(?:\d+\s*,?\s*)?([A-Za-z]\w*)\s*=`)
)

// readHeader reads the text of a loop; false if it names no variable.
func readHeader(text string) (header, bool) {
	text = strings.TrimSpace(text)
	if m := cHeader.FindStringSubmatch(text); m != nil && m[4] == m[2] && m[7]+m[8]+m[9] == m[2] {
		limit := strings.TrimSpace(m[6])
		if m[5] == "<=" {
			limit = fmt.Sprintf("(%s) + 1", limit)
		}
		return header{name: m[2], text: m[0], begin: strings.TrimSpace(m[3]), limit: limit, kind: m[1]}, true
	}
	if m := fortranHeader.FindStringSubmatch(text); m != nil {
		return header{name: m[1], text: strings.TrimSpace(m[0]), begin: strings.TrimSpace(m[2]), limit: strings.TrimSpace(m[3])}, true
	}
	if m := startedHeader.FindStringSubmatch(text); m != nil {
		return header{name: m[1] + m[2] + m[3], text: text}, true
	}
	return header{}, false
}

// written are the loops of a nest as the source has them, outermost first, and where
// the first of them is; nil where that is not sure: every loop of the nest must be one of the text, inside
// one another, with as many turns. Only those around all others may be of a function
// that calls this one, if two are left to exchange.
func (f *finder) written(n *replay.Nest) (out []header, place string) {
	at := f.around(n)
	if at < 0 {
		return nil, ""
	}
	out = make([]header, len(n.Trips))
	seen := map[string]bool{}
	for i := len(out) - 1; i >= 0; i-- {
		if at < 0 && len(out)-1-i >= 2 {
			nameOutside(out[:i+1], seen)
			return out, place
		}
		if at < 0 {
			return nil, ""
		}
		l := &f.found.Loops[at]
		if !l.Exact || l.Kind != tree.Plain || l.Unknown.Spread || l.Min != uint64(n.Trips[i]) || l.Max != l.Min {
			return nil, ""
		}
		h, ok := readHeader(l.Text)
		if !ok || seen[h.name] {
			return nil, ""
		}
		out[i] = h
		seen[out[i].name], place = true, l.Where()
		at = l.Parent
	}
	return out, place
}

// around is the innermost loop of the program around a nest; -1 if that is not known.
func (f *finder) around(n *replay.Nest) int {
	if f.Loops == nil {
		return -1
	}
	if !f.sought {
		f.found, f.sought = f.Loops(), true
	}
	if f.found == nil {
		return -1
	}
	var pcs []uint64
	for _, c := range n.Body {
		pcs = append(pcs, f.trace.Codes[c].PC)
	}
	if l, ok := f.found.Around(pcs); ok {
		return l.Index
	}
	return -1
}

// outermost is where the outermost loop around a nest in its function is, and how
// many there are: as many as the code has, whatever is known of their turns.
func (f *finder) outermost(n *replay.Nest) (place string, loops int) {
	at := f.around(n)
	for inner := at; at >= 0 && f.found.Loops[at].Function == f.found.Loops[inner].Function; at = f.found.Loops[at].Parent {
		if l := &f.found.Loops[at]; l.Line > 0 && !l.Around {
			place = l.Where()
		}
		loops++
	}
	return place, loops
}

// nameOutside names loops that call the function of the others, by letters that these do
// not use.
func nameOutside(loops []header, used map[string]bool) {
	for i := range loops {
		for _, letter := range loopLetters {
			if !used[letter] {
				loops[i], used[letter] = header{name: letter, outside: true}, true
				break
			}
		}
	}
}

// loopNaming is what the loops of a nest are called.
type loopNaming struct {
	names   []string
	headers []header // nil: the names are placeholders
	fortran bool
	// place is that of the outermost loop, or of what it does if the loop is not
	// known; where is the place with the word that fits.
	place, where string
	// outside is how many of the outermost are not in the function: they call it, in a
	// loop or one call after another, and stay where they are.
	outside int
}

func (f *finder) naming(n *replay.Nest) loopNaming {
	body := f.trace.PlaceOf(n.Body[0])
	out := loopNaming{names: loopLetters, fortran: body.Fortran()}
	out.headers, out.place = f.written(n)
	if out.headers == nil {
		place, loops := f.outermost(n)
		if loops > 0 {
			out.outside = max(len(n.Trips)-loops, 0)
		}
		if out.place, out.where = place, "within "+place; place == "" {
			out.place = placeText(body)
			out.where = "around " + cmp.Or(out.place, "code without lines")
		}
		return out
	}
	out.where = "at " + out.place
	out.names = nil
	for _, h := range out.headers {
		if h.outside {
			out.outside++
		}
		out.names = append(out.names, h.name)
	}
	return out
}

// rests says what the names of the loops of a nest rest on.
func (l loopNaming) rests(n *replay.Nest) string {
	var names, turns []string
	for i, trips := range n.Trips {
		if l.headers == nil || !l.headers[i].outside {
			names, turns = append(names, l.name(i)), append(turns, fmt.Sprint(trips))
		}
	}
	called, counted := strings.Join(names, ", "), strings.Join(turns, ", ")
	if l.headers == nil {
		return fmt.Sprintf("%s stand for the loops of %s turns that the addresses show, outermost first: which loops of the source they are is not known", called, counted)
	}
	return fmt.Sprintf("%s are the loops of the source at %s: as the recorded control flow counts, they turn %s times as the addresses do", called, l.place, counted)
}

func (l loopNaming) name(i int) string { return l.names[i%len(l.names)] }

// order writes an order of loops by their names; those outside the function stay
// where they are.
func (l loopNaming) order(loops []replay.Loop) string {
	var all []string
	for i, x := range loops {
		if l.stays(i, x) {
			continue
		}
		name := l.name(x.Of)
		if x.Tile > 0 && !x.In {
			name += fmt.Sprintf("/%d", x.Tile)
		}
		all = append(all, name)
	}
	return strings.Join(all, " ")
}

// stays says that the loop at a depth of an order is outside the function and where
// it was.
func (l loopNaming) stays(depth int, x replay.Loop) bool {
	return l.headers != nil && l.headers[x.Of].outside && x.Of == depth && x.Tile == 0
}

// block is the variable that goes from tile to tile.
func (l loopNaming) block(i int) string {
	v := l.name(i)
	for _, other := range l.names {
		if other == v+v {
			return v + "_block"
		}
	}
	return v + v
}

// asWritten reports whether the headers of the source may stand in an order: none
// may speak of another, and those that are cut into tiles count up by one.
func (l loopNaming) asWritten(order []replay.Loop) bool {
	if l.headers == nil {
		return false
	}
	for depth, x := range order {
		if x.Tile > 0 && l.headers[x.Of].begin == "" || l.headers[x.Of].outside && !l.stays(depth, x) {
			return false
		}
	}
	for i, h := range l.headers {
		for k, other := range l.headers {
			if i != k && regexp.MustCompile(`\b`+regexp.QuoteMeta(other.name)+`\b`).MatchString(h.text) {
				return false
			}
		}
	}
	return true
}

// code writes the nest as it is and as it would be, in the language it is written
// in.
func (l loopNaming) code(n *replay.Nest, loops []replay.Loop) string {
	comment := "//"
	if l.fortran {
		comment = "!"
	}
	var b strings.Builder
	written := l.asWritten(loops)
	switch {
	case l.headers == nil:
		fmt.Fprintf(&b, "%s %s are placeholders for the loops, outermost first; they count turns\n", comment, strings.Join(l.names[:len(n.Trips)], ", "))
	case !written:
		fmt.Fprintf(&b, "%s the variables count turns here\n", comment)
	}
	fmt.Fprintf(&b, "%s now\n", comment)
	now := make([]replay.Loop, len(n.Trips))
	for i := range now {
		now[i].Of = i
	}
	l.nest(&b, n, now, written)
	fmt.Fprintf(&b, "%s then\n", comment)
	l.nest(&b, n, loops, written)
	return b.String()
}

// nest writes loops inside one another; those outside the function are not in its
// text.
func (l loopNaming) nest(b *strings.Builder, n *replay.Nest, loops []replay.Loop, written bool) {
	depth := 0
	for i, x := range loops {
		if written && l.stays(i, x) {
			continue
		}
		b.WriteString(strings.Repeat("\t", depth) + l.line(x, n.Trips[x.Of], written) + "\n")
		depth++
	}
}

// line is the header of one loop.
func (l loopNaming) line(x replay.Loop, trips int, written bool) string {
	h := header{begin: "0", limit: fmt.Sprint(trips)}
	if l.fortran {
		h.begin = "1"
	}
	even := x.Tile > 0 && trips%x.Tile == 0
	if written {
		if h = l.headers[x.Of]; x.Tile == 0 {
			return h.text
		}
	}
	v, block := l.name(x.Of), l.block(x.Of)
	if l.fortran {
		return fortranLine(x, h, v, block, even)
	}
	return cLine(x, h, v, block, even)
}

func cLine(x replay.Loop, h header, v, block string, even bool) string {
	switch {
	case x.Tile > 0 && !x.In:
		return fmt.Sprintf("for (%s%s = %s; %s < %s; %s += %d)", h.kind, block, h.begin, block, h.limit, block, x.Tile)
	case even:
		return fmt.Sprintf("for (%s%s = %s; %s < %s + %d; %s++)", h.kind, v, block, v, block, x.Tile, v)
	case x.Tile > 0:
		return fmt.Sprintf("for (%s%s = %s; %s < min(%s + %d, %s); %s++)", h.kind, v, block, v, block, x.Tile, h.limit, v)
	}
	return fmt.Sprintf("for (%s%s = %s; %s < %s; %s++)", h.kind, v, h.begin, v, h.limit, v)
}

func fortranLine(x replay.Loop, h header, v, block string, even bool) string {
	switch {
	case x.Tile > 0 && !x.In:
		return fmt.Sprintf("do %s = %s, %s, %d", block, h.begin, h.limit, x.Tile)
	case even:
		return fmt.Sprintf("do %s = %s, %s + %d", v, block, block, x.Tile-1)
	case x.Tile > 0:
		return fmt.Sprintf("do %s = %s, min(%s + %d, %s)", v, block, block, x.Tile-1, h.limit)
	}
	return fmt.Sprintf("do %s = %s, %s", v, h.begin, h.limit)
}
