package align

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/data/samples"
)

// Side is what alignment needs to know of one side of a comparison.
type Side struct {
	// Files, Functions and Objects are the names that occur, objects without
	// what chance gave them; see Threads.Object.
	Files, Functions, Objects []string
	// Text returns the lines of a source file; nil if it is not known.
	Text func(file string) []string
	// Builds are the build ids of the program's modules by base name.
	Builds map[string]string
}

// Alignment maps names of A to names of B.
type Alignment struct {
	files     map[string]found
	matchings map[string]*matching // by file of A
	across    map[Place]placed     // lines of functions that are in another file in B
	functions map[string]found
	objects   map[string]found
	baseFiles map[string]string // a file of A by its base name; "" if several have it
	sameBuild bool
	strangers bool // builds are known and differ
	same      bool // both sides have common names already
	// Unmatched are files of both sides whose lines cannot be compared.
	Unmatched []string
}

// Common is the alignment of two sides that speak in common names, as Join of
// package compare makes them.
func Common() *Alignment { return &Alignment{same: true} }

// onlyInA follows the name of a file for lines that B has not.
const onlyInA = " (only in A)"

// InA is a file for the lines of A that B has not: their numbers mean other lines
// in B.
func InA(file string) string { return file + onlyInA }

// FromA is the file of A behind the name that InA gave it; false for other names.
func FromA(file string) (string, bool) { return strings.CutSuffix(file, onlyInA) }

type found struct {
	name string
	how  How
}

// Place is a line of a file; lines count from 1.
type Place struct {
	File string
	Line int
}

type placed struct {
	Place
	how How
}

// New aligns two sides. Renames are files of A that the user says are others in
// B.
func New(a, b Side, renames map[string]string) *Alignment {
	al := &Alignment{files: map[string]found{}, matchings: map[string]*matching{}, across: map[Place]placed{}, functions: map[string]found{}, objects: map[string]found{}, baseFiles: map[string]string{}}
	al.sameBuild, al.strangers = builds(a.Builds, b.Builds)
	textA, textB := parsed(a), parsed(b)
	al.pairFiles(a.Files, b.Files, textA, textB, renames)
	moved := al.pairSources(textA, textB)
	al.pairFunctionNames(a.Functions, b.Functions, moved)
	for _, f := range a.Files {
		base := path.Base(f)
		if other, seen := al.baseFiles[base]; seen && other != f {
			al.baseFiles[base] = ""
			continue
		}
		al.baseFiles[base] = f
	}
	al.pairObjects(a.Objects, b.Objects)
	return al
}

// builds compares modules of the same name: all alike, or some known to differ.
func builds(a, b map[string]string) (same, differ bool) {
	for name, id := range a {
		if other := b[name]; other != "" && id != "" {
			same, differ = same || other == id, differ || other != id
		}
	}
	return same && !differ, differ
}

func parsed(s Side) map[string]*file {
	out := map[string]*file{}
	for _, name := range s.Files {
		if s.Text == nil || name == "" {
			continue
		}
		if text := s.Text(name); len(text) > 0 {
			out[name] = newFile(text)
		}
	}
	return out
}

// pairFiles pairs files by path, by path below what all files of a side have in
// common, and by what is in them.
func (al *Alignment) pairFiles(a, b []string, textA, textB map[string]*file, renames map[string]string) {
	taken := map[string]bool{}
	pair := func(x, y string, how How) {
		al.files[x] = found{y, how}
		taken[y] = true
	}
	for _, x := range a {
		if y, ok := renames[x]; ok {
			pair(x, y, Modified)
		} else if y, ok := renames[path.Base(x)]; ok {
			if i := slices.IndexFunc(b, func(f string) bool { return path.Base(f) == y || f == y }); i >= 0 {
				pair(x, b[i], Modified)
			}
		} else if slices.Contains(b, x) {
			pair(x, x, Equal)
		}
	}
	below := map[string][]string{}
	prefixA, prefixB := commonFolder(a), commonFolder(b)
	for _, y := range b {
		if !taken[y] {
			short := strings.TrimPrefix(y, prefixB)
			below[short] = append(below[short], y)
		}
	}
	for _, x := range a {
		if list := below[strings.TrimPrefix(x, prefixA)]; al.files[x].name == "" && len(list) == 1 {
			pair(x, list[0], Equal)
		}
	}
	for _, m := range similarFiles(a, b, textA, textB) {
		if al.files[m.a].name == "" && !taken[m.b] {
			pair(m.a, m.b, Modified)
		}
	}
}

// commonFolder is the longest folder that all paths begin with.
func commonFolder(files []string) string {
	prefix := ""
	for i, f := range files {
		dir := f[:strings.LastIndexByte(f, '/')+1]
		if i == 0 {
			prefix = dir
		}
		for !strings.HasPrefix(f, prefix) {
			prefix = prefix[:strings.LastIndexByte(strings.TrimSuffix(prefix, "/"), '/')+1]
		}
	}
	return prefix
}

type fileMatch struct {
	a, b  string
	alike float64
}

// similarFiles are pairs of files that share at least half of their lines, most
// alike first.
func similarFiles(a, b []string, textA, textB map[string]*file) []fileMatch {
	var out []fileMatch
	if len(textA) > maxStrangers || len(textB) > maxStrangers {
		return nil
	}
	bodies := map[string]*body{}
	for name, f := range textB {
		bodies[name] = bodyOf(f.lines)
	}
	for _, x := range a {
		f := textA[x]
		if f == nil {
			continue
		}
		mine := bodyOf(f.lines)
		for _, y := range b {
			if other := bodies[y]; other != nil {
				if alike := dice(mine.lines, other.lines); alike >= .5 {
					out = append(out, fileMatch{x, y, alike})
				}
			}
		}
	}
	slices.SortStableFunc(out, func(x, y fileMatch) int { return cmp.Compare(y.alike, x.alike) })
	return out
}

// pairSources matches the lines of functions, wherever they are, and returns what
// each function of A is called in B, both without what qualifies their names. Names are believed before what
// is in functions, and a file's own functions before those of others.
func (al *Alignment) pairSources(textA, textB map[string]*file) map[string]string {
	var both []string // files of A with text on both sides
	for _, x := range slices.Sorted(maps.Keys(al.files)) {
		switch {
		case textA[x] != nil && textB[al.files[x].name] != nil:
			both = append(both, x)
		case x != "" && !al.sameBuild:
			al.Unmatched = append(al.Unmatched, x)
		}
	}
	pairs := map[string][][2]int{}
	within := func(pair func(a, b *file) [][2]int) {
		for _, x := range both {
			pairs[x] = append(pairs[x], pair(textA[x], textB[al.files[x].name])...)
		}
	}
	within(namesakes)
	moved := movedNamesakes(textA, textB)
	within(lookalikes)
	moved = append(moved, movedLookalikes(textA, textB)...)

	renamed := map[string]string{}
	rename := func(a, b function) { renamed[lastName(a.name)] = lastName(b.name) }
	for _, m := range moved {
		rename(textA[m.a.file].functions[m.a.function], textB[m.b.file].functions[m.b.function])
		al.matchAcross(m, textA[m.a.file], textB[m.b.file])
	}
	for _, x := range both {
		fa, fb := textA[x], textB[al.files[x].name]
		for _, p := range pairs[x] {
			rename(fa.functions[p[0]], fb.functions[p[1]])
		}
		al.matchings[x] = matchFiles(fa, fb, pairs[x])
	}
	return renamed
}

// matchAcross pairs the lines of a function with those of the same one in another
// file. Nothing else in either file is one of them.
func (al *Alignment) matchAcross(p movedFunction, a, b *file) {
	fa, fb := a.functions[p.a.function], b.functions[p.b.function]
	inA, inB := span(fa.from, fa.to, a.away), span(fb.from, fb.to, b.away)
	m := newMatching(pick(a.lines, inA), pick(b.lines, inB))
	m.match(upTo(len(inA)), upTo(len(inB)))
	for i, j := range m.toB {
		if j < 0 {
			continue
		}
		how := m.how[i]
		if how == Equal {
			how = Moved
		}
		al.across[Place{p.a.file, inA[i] + 1}] = placed{Place{p.b.file, inB[j] + 1}, how}
	}
}

// pairFunctionNames pairs names as they are, then without arguments, then as the
// sources say: a namespace, a class or a crate of another name qualifies the same
// function. A name that several have on a side pairs none of them.
func (al *Alignment) pairFunctionNames(a, b []string, renamed map[string]string) {
	taken := map[string]bool{}
	for _, x := range a {
		if slices.Contains(b, x) {
			al.functions[x], taken[x] = found{x, Equal}, true
		}
	}
	try := func(how How, key func(string) string, want func(string) string) {
		by := map[string][]string{}
		for _, y := range b {
			if !taken[y] {
				by[key(y)] = append(by[key(y)], y)
			}
		}
		wanting := map[string][]string{}
		for _, x := range a {
			if _, done := al.functions[x]; !done && x != "" {
				wanting[want(x)] = append(wanting[want(x)], x)
			}
		}
		for key, own := range wanting {
			if list := by[key]; len(own) == 1 && len(list) == 1 {
				al.functions[own[0]], taken[list[0]] = found{list[0], how}, true
			}
		}
	}
	try(Modified, withoutArguments, withoutArguments)
	try(Modified, lastName, func(x string) string { return renamed[lastName(x)] })
}

// pairObjects pairs variables by name, and allocations by their line as it is
// aligned and by their size.
func (al *Alignment) pairObjects(a, b []string) {
	sitesB := map[string][]string{} // by base name and line
	taken := map[string]bool{}
	for _, y := range b {
		if s, ok := siteOf(y); ok {
			key := s.file + ":" + strconv.Itoa(s.line)
			sitesB[key] = append(sitesB[key], y)
		}
	}
	var left []string
	for _, x := range a {
		s, ok := siteOf(x)
		if !ok {
			if slices.Contains(b, x) {
				al.objects[x] = found{x, Equal}
			}
			continue
		}
		key, how, ok := al.siteIn(s)
		if !ok {
			continue
		}
		list := sitesB[key]
		i := slices.IndexFunc(list, func(y string) bool {
			other, _ := siteOf(y)
			return !taken[y] && sameSize(s.size, other.size)
		})
		if i < 0 {
			left = append(left, x)
			continue
		}
		al.objects[x], taken[list[i]] = found{list[i], how}, true
	}
	al.pairResized(left, sitesB, taken)
}

// pairResized pairs the only allocation of a line with the only one there, of
// whatever size.
func (al *Alignment) pairResized(left []string, sitesB map[string][]string, taken map[string]bool) {
	at := map[string][]string{}
	for _, x := range left {
		s, _ := siteOf(x)
		key, _, _ := al.siteIn(s)
		at[key] = append(at[key], x)
	}
	for key, list := range at {
		free := slices.DeleteFunc(slices.Clone(sitesB[key]), func(y string) bool { return taken[y] })
		if len(list) == 1 && len(free) == 1 {
			al.objects[list[0]] = found{free[0], Modified}
		}
	}
}

// siteIn is where B has the line of an allocation of A, by base name and line.
func (al *Alignment) siteIn(s site) (string, How, bool) {
	name := al.baseFiles[s.file]
	if name == "" { // samples lie elsewhere, or several files have that name
		return s.file + ":" + strconv.Itoa(s.line), ByNumber, true
	}
	to, ok := al.partner(Place{name, s.line})
	return path.Base(to.File) + ":" + strconv.Itoa(to.Line), to.how, ok
}

// partner is where B has a line of a file of A.
func (al *Alignment) partner(of Place) (placed, bool) {
	if to, ok := al.across[of]; ok {
		return to, true
	}
	to := al.files[of.File].name
	if to == "" && of.File != "" {
		return placed{}, false
	}
	line, how, ok := al.line(of.File, of.Line)
	return placed{Place{to, line}, how}, ok
}

// line is the partner in B of a line of a file of A; lines count from 1.
func (al *Alignment) line(file string, n int) (int, How, bool) {
	m := al.matchings[file]
	if m == nil && file == "" { // lines of a program of one file that nobody names
		return n, ByNumber, true
	}
	if m == nil {
		if al.files[file].name == "" || al.strangers {
			return 0, "", false
		}
		if al.sameBuild {
			return n, Equal, true
		}
		return n, ByNumber, true
	}
	if n < 1 || n > len(m.toB) || m.toB[n-1] < 0 {
		return 0, "", false
	}
	return m.toB[n-1] + 1, m.how[n-1], true
}

// Inverse maps names of B to names of A.
func (al *Alignment) Inverse() *Alignment {
	if al.same {
		return al
	}
	out := &Alignment{files: inverse(al.files), functions: inverse(al.functions), objects: inverse(al.objects), matchings: map[string]*matching{}, across: map[Place]placed{},
		sameBuild: al.sameBuild, strangers: al.strangers}
	for from, to := range al.across {
		out.across[to.Place] = placed{from, to.how}
	}
	for name, m := range al.matchings {
		turned := &matching{a: m.b, b: m.a, toB: m.toA, toA: m.toB, how: make([]How, len(m.b))}
		for j, i := range m.toA {
			if i >= 0 {
				turned.how[j] = m.how[i]
			}
		}
		out.matchings[al.files[name].name] = turned
	}
	return out
}

func inverse(m map[string]found) map[string]found {
	out := make(map[string]found, len(m))
	for name, f := range m {
		out[f.name] = found{name, f.how}
	}
	return out
}

// LinesOf is a file of B line by line as A has it.
type LinesOf struct {
	FileA string // the file that it was; empty if it is new
	Lines []int  // for each line of B that of A; lines count from 1, and 0 has no partner
	How   []How
	// From are the files of lines that were in another one than FileA, by line of B.
	From map[int]string
	// Left are the lines of FileA that are in another file of B now, and where.
	Left map[int]Place
}

// Beside is the file of B in whose text the lines stand that only a file of A has;
// false if the two were not compared by content.
func (al *Alignment) Beside(fileA string) (string, bool) {
	return al.files[fileA].name, al.matchings[fileA] != nil
}

// Pairs are the lines of a file of B in A. It is false for files whose lines were
// not compared by content.
func (al *Alignment) Pairs(fileB string) (*LinesOf, bool) {
	out := &LinesOf{From: map[int]string{}, Left: map[int]Place{}}
	for a, m := range al.matchings {
		if al.files[a].name != fileB {
			continue
		}
		out.FileA, out.Lines, out.How = a, make([]int, len(m.toA)), make([]How, len(m.toA))
		for j, i := range m.toA {
			if i >= 0 {
				out.Lines[j], out.How[j] = i+1, m.how[i]
			}
		}
	}
	for from, to := range al.across {
		if from.File == out.FileA && out.FileA != "" {
			out.Left[from.Line] = to.Place
		}
		if to.File != fileB {
			continue
		}
		for len(out.Lines) < to.Line { // a new file, of which nothing else is known
			out.Lines, out.How = append(out.Lines, 0), append(out.How, "")
		}
		out.Lines[to.Line-1], out.How[to.Line-1] = from.Line, to.how
		if from.File != out.FileA {
			out.From[to.Line] = from.File
		}
	}
	return out, len(out.Lines) > 0
}

// Key is the key of a group of A in the terms of B; false if B has none.
func (al *Alignment) Key(by, key []string) ([]string, How, bool) {
	if al.same {
		return key, Equal, !slices.ContainsFunc(key, func(k string) bool { return strings.HasSuffix(k, onlyInA) })
	}
	out, how := make([]string, len(key)), Equal
	file := slices.Index(by, samples.File)
	worse := func(h How) {
		if rank(h) > rank(how) {
			how = h
		}
	}
	for i, column := range by {
		if key[i] == "" {
			continue
		}
		switch column {
		case samples.File:
			if line := slices.Index(by, samples.Line); line >= 0 && key[line] != "" {
				continue // the line says in which file it is
			}
			f, ok := al.files[key[i]]
			if !ok {
				return nil, "", false
			}
			out[i] = f.name
		case samples.Line:
			n, err := strconv.Atoi(key[i])
			if err != nil {
				return nil, "", false
			}
			named := ""
			if file >= 0 {
				named = key[file]
			}
			to, ok := al.partner(Place{al.fileOr(named), n})
			if !ok {
				return nil, "", false
			}
			out[i] = strconv.Itoa(to.Line)
			if named != "" {
				out[file] = to.File
			}
			worse(to.how)
		case samples.Function:
			f, ok := al.functions[key[i]]
			if !ok {
				return nil, "", false
			}
			out[i] = f.name
			worse(f.how)
		case samples.Symbol:
			f, ok := al.objects[key[i]]
			if !ok {
				return nil, "", false
			}
			out[i] = f.name
			worse(f.how)
		default:
			out[i] = key[i]
		}
	}
	return out, how, true
}

// fileOr is the file of a line whose key does not say it: the only one there is.
func (al *Alignment) fileOr(file string) string {
	if file == "" && len(al.files) == 1 {
		for name := range al.files {
			return name
		}
	}
	return file
}

func rank(h How) int {
	return slices.Index([]How{Equal, Moved, Modified, ByNumber}, h)
}
