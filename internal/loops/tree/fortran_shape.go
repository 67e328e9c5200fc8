package tree

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// fortranShapes tells of loops in free form what their text proves. The variable of a
// do does not change within it, and its limits are read once: the language says so.
// What is not understood is left out, and nothing is believed of a text with a
// preprocessor or directives, nor of a unit with labels.
func fortranShapes(file string, text []byte, found []statement) {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".f90", ".f95", ".f03", ".f08":
	default:
		return
	}
	lines, ok := fortranLines(string(text))
	if !ok {
		return
	}
	f := &fortranText{parameters: map[string]fortranParameter{}, declared: map[string]int{}, at: map[int]int{}}
	for k := range found {
		f.at[int(found[k].at>>columnBits)] = k
	}
	for _, l := range lines {
		if !f.statement(l) {
			return
		}
	}
	if len(f.blocks) > 0 || len(f.loops) != len(found) {
		return
	}
	for _, d := range f.loops { // those around others come first
		if !f.units[d.unit].hidden {
			d.shape.counted = f.counted(d)
			found[d.index].shape = d.shape
		}
	}
}

// fortranLine is a statement: in small letters, with its continuation, without
// comments and what strings hold.
type fortranLine struct {
	line int
	text string
}

// fortranLines cuts a text into statements; false if something in it may hide others.
func fortranLines(text string) (all []fortranLine, ok bool) {
	joined, from := "", 0
	for i, line := range strings.Split(strings.ToLower(text), "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "!$") || strings.HasPrefix(line, "include ") {
			return nil, false
		}
		line, whole := withoutStrings(line)
		if !whole {
			return nil, false
		}
		if line == "" { // also between a line and what continues it
			continue
		}
		if joined == "" {
			from = i + 1
		} else {
			line = strings.TrimPrefix(line, "&")
		}
		if rest, more := strings.CutSuffix(line, "&"); more {
			joined += rest + " "
			continue
		}
		for part := range strings.SplitSeq(joined+line, ";") {
			if part = strings.TrimSpace(part); part != "" {
				all = append(all, fortranLine{from, part})
			}
		}
		joined = ""
	}
	return all, joined == ""
}

// withoutStrings takes comments and what strings hold from a line; false if a string
// does not end in it.
func withoutStrings(line string) (string, bool) {
	var out strings.Builder
	quote := rune(0)
	for _, c := range line {
		switch {
		case c == quote:
			quote = 0
		case quote != 0:
			continue
		case c == '\'' || c == '"':
			quote = c
		case c == '!':
			return strings.TrimSpace(out.String()), true
		}
		out.WriteRune(c)
	}
	return strings.TrimSpace(out.String()), quote == 0
}

// fortranText is what was read of a text so far.
type fortranText struct {
	units      []fortranUnit
	blocks     []fortranBlock
	parameters map[string]fortranParameter
	declared   map[string]int // how often each name is declared
	loops      []*fortranDo
	at         map[int]int // the statements of loops, by line
}

// fortranUnit is a program, a module or a procedure.
type fortranUnit struct {
	name   string
	parent int // the unit it stands in; -1 if none
	uses   []fortranUse
	ended  bool // a run of it may have ended before the place
	hidden bool // it has labels or several entries
}

// fortranUse is what a unit takes from a module.
type fortranUse struct {
	module       string
	all, renames bool
	only         []string
}

// gives reports whether a name is that of the module.
func (u fortranUse) gives(name string) bool {
	return !u.renames && (u.all || slices.Contains(u.only, name))
}

type fortranParameter struct {
	unit  int
	value string
}

// fortranDo is a loop. Broken says that something but its condition may end it, ended
// that its turn may have ended before the place.
type fortranDo struct {
	index, unit   int
	around        *fortranDo
	name, header  string
	broken, ended bool
	shape         shape
}

// fortranBlock is a construct under way, by the word that ends it.
type fortranBlock struct {
	kind string
	unit int
	do   *fortranDo // of do
}

var (
	fortranEnd    = regexp.MustCompile(`^end\s*(do|if|select|where|forall|associate|block\s*data|block|critical|team|enum|interface|type|submodule|module|program|subroutine|function|procedure)?(\s+[^=(%].*)?$`)
	fortranModule = regexp.MustCompile(`^(program|module|submodule|block\s*data)\s*(?:\([^()]*\))?\s*(\w+)$`)
	fortranHead   = regexp.MustCompile(`^(?:[\w*]+(?:\s*\([^()]*\))?\s+)*?(subroutine|function)\s+(\w+)\s*(?:\(([^()]*)\).*)?$`)
	fortranOpens  = regexp.MustCompile(`^(select)\s*(?:case|type|rank)\b|^(where|forall|associate)\s*\(|^(block|critical)$|^change\s+(team)\b|^(?:abstract\s+)?(interface)\b|^(enum)\s*,|^(type)(?:\s*,.*::\s*\w+|\s*::\s*\w+|\s+\w+)$`)
	fortranPrefix = regexp.MustCompile(`^(\w+)\s*:\s*([a-z].*)$`)
	fortranDoHead = regexp.MustCompile(`^do(?:\s+(.*))?$`)
	fortranIf     = regexp.MustCompile(`^if\s*\(`)
)

// statement takes the next one; false if it is not understood.
func (f *fortranText) statement(l fortranLine) bool {
	t := l.text
	if label := fortranLabel.FindString(t); label != "" {
		f.hide()
		t = t[len(label):]
	}
	if m := fortranEnd.FindStringSubmatch(t); m != nil {
		return f.end(m[1])
	}
	if f.opensUnit(t) {
		return true
	}
	if len(f.blocks) == 0 || strings.HasPrefix(t, "module procedure") && f.top().kind != "interface" {
		return false
	}
	if strings.HasPrefix(t, "entry ") {
		f.hide()
	}
	f.declare(t)
	name := ""
	if m := fortranPrefix.FindStringSubmatch(t); m != nil {
		name, t = m[1], m[2]
	}
	if m := fortranDoHead.FindStringSubmatch(t); m != nil {
		return f.opensDo(l.line, name, m[1])
	}
	if fortranIf.MatchString(t) {
		if t = behindParentheses(t); t == "then" {
			f.opens("if")
			return true
		}
	}
	if m := fortranOpens.FindStringSubmatch(t); m != nil {
		if kind := strings.Join(m[1:], ""); kind != "where" && kind != "forall" || behindParentheses(t) == "" {
			f.opens(kind)
		}
		return true
	}
	f.jump(t)
	return true
}

// behindParentheses is what follows the first parentheses of a statement.
func behindParentheses(t string) string {
	end := closingParenthesis(t, strings.IndexByte(t, '(')+1)
	return strings.TrimSpace(t[end+1:])
}

func (f *fortranText) top() *fortranBlock { return &f.blocks[len(f.blocks)-1] }

func (f *fortranText) hide() {
	if len(f.blocks) > 0 {
		f.units[f.top().unit].hidden = true
	}
}

func (f *fortranText) opens(kind string) {
	f.blocks = append(f.blocks, fortranBlock{kind: kind, unit: f.top().unit})
}

// end closes a construct or a unit, which need not be named.
func (f *fortranText) end(kind string) bool {
	if len(f.blocks) == 0 {
		return false
	}
	last := f.top().kind
	f.blocks = f.blocks[:len(f.blocks)-1]
	return last == strings.Join(strings.Fields(kind), "") || kind == "" && last != "do" && last != "if"
}

func (f *fortranText) opensUnit(t string) bool {
	m := fortranHead.FindStringSubmatch(t)
	if m == nil {
		if m = fortranModule.FindStringSubmatch(t); m == nil || m[1] == "module" && m[2] == "procedure" {
			return false
		}
		m = append(m, "")
	}
	parent := -1
	if len(f.blocks) > 0 {
		parent = f.top().unit
	}
	for name := range strings.SplitSeq(m[3], ",") { // arguments
		f.declared[strings.TrimSpace(name)]++
	}
	f.blocks = append(f.blocks, fortranBlock{kind: strings.Join(strings.Fields(m[1]), ""), unit: len(f.units)})
	f.units = append(f.units, fortranUnit{name: m[2], parent: parent})
	return true
}

// around is the innermost loop under way in the unit of the place, and whether
// something between decides if the place is reached.
func (f *fortranText) around() (d *fortranDo, decided bool) {
	for i := len(f.blocks) - 1; i >= 0 && f.blocks[i].unit == f.top().unit; i-- {
		switch b := &f.blocks[i]; b.kind {
		case "do":
			return b.do, decided
		case "program", "subroutine", "function":
			return nil, decided
		case "associate", "block", "critical":
		default:
			decided = true
		}
	}
	return nil, true
}

func (f *fortranText) opensDo(line int, name, header string) bool {
	k, ok := f.at[line]
	if !ok || len(f.loops) > 0 && f.loops[len(f.loops)-1].index >= k || labelled.MatchString(header) {
		return false
	}
	around, decided := f.around()
	u := &f.units[f.top().unit]
	d := &fortranDo{index: k, unit: f.top().unit, around: around, name: name, header: header,
		shape: shape{parent: -1, function: u.name, always: !decided && !u.ended && (around == nil || !around.ended)}}
	if around != nil {
		d.shape.parent = int32(around.index)
	}
	f.loops = append(f.loops, d)
	f.blocks = append(f.blocks, fortranBlock{kind: "do", unit: d.unit, do: d})
	return true
}

var (
	labelled      = regexp.MustCompile(`^\d`)
	fortranJump   = regexp.MustCompile(`^(exit|cycle)(?:\s+(\w+))?$`)
	fortranLeaves = regexp.MustCompile(`^(return|(error\s*)?stop|go\s*to|call\s+(exit|abort))\b|^\d`)
)

// jump notes a statement that ends loops, or their turns.
func (f *fortranText) jump(t string) {
	if fortranLeaves.MatchString(t) {
		f.leave("", true)
	} else if m := fortranJump.FindStringSubmatch(t); m != nil {
		target := m[2]
		if d, _ := f.around(); target == "" && d != nil {
			target = d.name
			if target == "" {
				d.broken, d.ended = d.broken || m[1] == "exit", true
				return
			}
		}
		f.leave(target, m[1] == "exit")
	}
}

// leave ends all loops around the place up to that of a name, and its turn; the loop
// too if it is broken. If none has the name, that of a block may be meant.
func (f *fortranText) leave(name string, broken bool) {
	for d, _ := f.around(); d != nil; d = d.around {
		d.ended = true
		if d.name == name && name != "" {
			d.broken = d.broken || broken
			return
		}
		d.broken = true
	}
	f.units[f.top().unit].ended = true
}

var (
	fortranType       = regexp.MustCompile(`^(?:integer|real|double\s*precision|complex|logical|character|type\s*\(|class\s*\(|procedure\s*\(|parameter\b|dimension\b)`)
	fortranParameters = regexp.MustCompile(`^integer\b[^:]*,\s*parameter\b[^:]*::`)
	fortranWord       = regexp.MustCompile(`[a-z]\w*`)
	fortranAlias      = regexp.MustCompile(`(\w+)\s*=>`)
	fortranUsing      = regexp.MustCompile(`^use\b\s*(?:,[^:]*::\s*|::\s*)?(\w+)\s*(?:,\s*(.*))?$`)
	fortranOnly       = regexp.MustCompile(`^only\s*:(.*)$`)
)

// declare notes names that a statement declares, and what a unit takes from a module:
// what is declared twice is no constant. Without colons all words may be names.
func (f *fortranText) declare(t string) {
	u := f.top().unit
	if m := fortranUsing.FindStringSubmatch(t); m != nil {
		only := fortranOnly.FindStringSubmatch(m[2])
		use := fortranUse{module: m[1], all: only == nil, renames: strings.Contains(t, "=>")}
		if only != nil {
			use.only = fortranWord.FindAllString(only[1], -1)
		}
		f.units[u].uses = append(f.units[u].uses, use)
		return
	}
	for _, m := range fortranAlias.FindAllStringSubmatch(t, -1) {
		f.declared[m[1]]++
	}
	if !fortranType.MatchString(t) && !strings.Contains(t, "::") {
		return
	}
	_, list, ok := strings.Cut(t, "::")
	if !ok {
		for _, word := range fortranWord.FindAllString(t, -1) {
			f.declared[word]++
		}
		return
	}
	for _, part := range splitTop(list, ",") {
		name, value, _ := strings.Cut(part, "=")
		f.declared[fortranWord.FindString(name)]++
		if name = strings.TrimSpace(name); fortranParameters.MatchString(t) {
			f.parameters[name] = fortranParameter{u, value}
		}
	}
}

// constants are the parameters that a unit can see and of which nothing else in the
// text has the name.
func (f *fortranText) constants(unit int) map[string]int64 {
	values := map[string]int64{}
	for range f.parameters { // one may be told by another
		before := len(values)
		for name, p := range f.parameters {
			if _, ok := values[name]; ok || f.declared[name] != 1 || !f.sees(unit, name, p.unit) {
				continue
			}
			if e, ok := parseFortran(p.value, &names{constants: values}); ok {
				if n, ok := e(nil); ok {
					values[name] = n
				}
			}
		}
		if len(values) == before {
			break
		}
	}
	return values
}

// sees reports whether a name in one unit is what another defines: its own, one of a
// unit around it, or one of a module that it uses.
func (f *fortranText) sees(unit int, name string, defined int) bool {
	for u := unit; u >= 0; u = f.units[u].parent {
		if u == defined {
			return true
		}
		foreign := false
		for _, use := range f.units[u].uses {
			if use.gives(name) && use.module == f.units[defined].name {
				return true
			}
			foreign = foreign || use.renames || use.gives(name)
		}
		if foreign {
			return false
		}
	}
	return false
}

var fortranForeign = regexp.MustCompile(`\b0\d|\d_|[%"'<>?]`)

// parseFortran reads an expression that is written as in C: no powers, kinds or parts.
func parseFortran(text string, known *names) (expression, bool) {
	if fortranForeign.MatchString(text) {
		return nil, false
	}
	return parseExpression(text, known)
}

var fortranCounting = regexp.MustCompile(`^(\w+)\s*=(.*)$`)

// counted reads the header of a do that nothing but its limit ends.
func (f *fortranText) counted(d *fortranDo) *counted {
	m := fortranCounting.FindStringSubmatch(d.header)
	if m == nil || d.broken {
		return nil
	}
	known := &names{constants: f.constants(d.unit), variables: map[string]bool{}, functions: f.intrinsics()}
	for in, up := d, d.around; up != nil && in.shape.always && up.shape.counted != nil; in, up = up, up.around {
		known.variables[up.shape.counted.variable] = true
	}
	limits := splitTop(m[2], ",")
	if len(limits) < 2 || len(limits) > 3 {
		return nil
	}
	from, ok := parseFortran(limits[0], known)
	to, ok2 := parseFortran(limits[1], known)
	step, ok3 := f.step(limits[2:], known.constants)
	if !ok || !ok2 || !ok3 {
		return nil
	}
	holds := comparisons["<="]
	if step < 0 {
		holds = comparisons[">="]
	}
	return &counted{variable: m[1], from: from, tests: []limited{{to, holds}}, next: func(v int64) int64 { return v + step }}
}

// step is that of a do, of which it may have none.
func (f *fortranText) step(text []string, constants map[string]int64) (int64, bool) {
	if len(text) == 0 {
		return 1, true
	}
	e, ok := parseFortran(text[0], &names{constants: constants})
	if !ok {
		return 0, false
	}
	n, ok := e(nil)
	return n, ok && n != 0
}

// intrinsics are functions of the language, where nothing in the text has their name.
func (f *fortranText) intrinsics() map[string]plainFunction {
	all := map[string]plainFunction{"mod": {[]string{"a", "b"}, "a % b"}, "min": {[]string{"a", "b"}, "b < a ? b : a"}, "max": {[]string{"a", "b"}, "a < b ? b : a"}}
	for name := range all {
		if f.declared[name] > 0 {
			delete(all, name)
		}
	}
	return all
}
