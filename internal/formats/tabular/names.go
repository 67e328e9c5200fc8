package tabular

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
)

// alsoCalled are names of other writers for canonical columns, folded.
var alsoCalled = map[string]string{
	"timestamp": samples.Time,
	"cpuid":     samples.CPU, "coreid": samples.CPU, "cpunumber": samples.CPU, "cpucore": samples.CPU, "logicalcpu": samples.CPU,
	"numanode": samples.Node,
	"mpirank":  samples.Rank,
	"hostname": samples.Host,
	"threadid": samples.TID, "processid": samples.PID,
	"instructionpointer": samples.IP, "instructionaddress": samples.IP, "programcounter": samples.IP, "codeaddress": samples.IP, "rip": samples.IP,
	"address": samples.Addr, "virtualaddress": samples.Addr, "dataaddress": samples.Addr, "datavirtualaddress": samples.Addr, "datalinearaddress": samples.Addr,
	"memoryaddress": samples.Addr, "effectiveaddress": samples.Addr, "linearaddress": samples.Addr, "vaddr": samples.Addr, "dataaddr": samples.Addr,
	"physicaladdress": samples.Phys, "dataphysicaladdress": samples.Phys, "physaddr": samples.Phys, "paddr": samples.Phys,
	"operation": samples.Op, "accesstype": samples.Op, "memop": samples.Op, "memoryoperation": samples.Op,
	"accesssize": samples.Width, "accesswidth": samples.Width,
	"loadlatency": samples.Latency, "accesslatency": samples.Latency, "memorylatency": samples.Latency, "memlatency": samples.Latency, "uselatency": samples.Latency,
	"memorylevel": samples.Level, "memlevel": samples.Level, "memlvl": samples.Level, "cachelevel": samples.Level, "lvl": samples.Level, "hitlevel": samples.Level, "servedby": samples.Level,
	"memoryaccess": samples.Level, "memoryhierarchylevel": samples.Level, "datasource": samples.Level,
	"snoopresult": samples.Snoop,
	"tlbaccess":   samples.TLB,
	"locked":      samples.Lock,
	"sourcefile":  samples.File, "filename": samples.File, "srcfile": samples.File,
	"sourceline": samples.Line, "linenumber": samples.Line, "lineno": samples.Line, "srcline": samples.Line,
	"functionname": samples.Function, "func": samples.Function, "routine": samples.Function, "codesymbol": samples.Function, "function/callstack": samples.Function,
	"mnemonic":   samples.Instruction,
	"iter":       samples.Iteration,
	"datasymbol": samples.Symbol, "memoryobject": samples.Symbol, "dataobject": samples.Symbol, "variable": samples.Symbol, "variablename": samples.Symbol,
}

// giveWay are two names of one tool that mean the same canonical column: the
// second is one only where the first is missing.
var giveWay = map[string]string{
	"dataobject": "datasymbol", // perf's is the file or mapping that the data is in
	"srcfile":    "file",
}

// mayBe are names that could mean a canonical column and often do not: they are
// left as they are, and a warning says what to do.
var mayBe = map[string][]string{
	"core": {samples.CPU}, "processor": {samples.CPU},
	"thread": {samples.TID}, "process": {samples.PID},
	"pc": {samples.IP}, "ea": {samples.Addr}, "pointer": {samples.Addr},
	"type": {samples.Op}, "rw": {samples.Op}, "r/w": {samples.Op}, "access": {samples.Op},
	"size": {samples.Width}, "bytes": {samples.Width}, "length": {samples.Width},
	"lat": {samples.Latency}, "cycles": {samples.Latency}, "delay": {samples.Latency}, "cost": {samples.Weight},
	"mem": {samples.Level}, "cache": {samples.Level}, "source": {samples.Level, samples.File},
	"object": {samples.Symbol}, "array": {samples.Symbol}, "name": {samples.Function, samples.Symbol},
	"symbol": {samples.Function, samples.Symbol},
	"t":      {samples.Time}, "ts": {samples.Time}, "tsc": {samples.Time}, "clock": {samples.Time},
}

// ofCode are columns that say which file the code of a row is in: beside one a
// symbol is the code's.
var ofCode = []string{"sharedobject", "module", "dso", "image", "binary"}

// withUnit are names that say too little alone and enough beside a unit.
var withUnit = map[string]string{"lat": samples.Latency, "t": samples.Time, "ts": samples.Time}

// Reading is what columns are taken for by their names alone.
type Reading struct {
	As     []string // the canonical column; empty where it keeps its own name
	Units  []string // that the names end in
	Doubts []string // what could be meant and is not taken, with what to say
}

// ReadNames says what columns of another program mean. Fixed ones are known
// already: they are called what they are.
func ReadNames(names []string, fixed func(int) bool) Reading {
	r := Reading{As: make([]string, len(names)), Units: make([]string, len(names))}
	folded := make([]string, len(names))
	var foreign []string // units that are none of what is named
	for i, name := range names {
		folded[i] = foldName(name)
		switch _, ok := samples.Lookup(name); {
		case ok:
			r.As[i] = name
		case !fixed(i):
			var doubt string
			if r.As[i], r.Units[i], doubt = meaning(name, folded[i]); doubt != "" {
				foreign = append(foreign, doubt)
			}
		}
	}
	r.giveWay(folded)
	r.localWeight(folded)
	r.symbol(names, folded, fixed)
	r.source(folded, fixed)
	r.onlyOne(names)
	r.doubt(names, folded, fixed)
	r.Doubts = append(r.Doubts, foreign...)
	return r
}

// foldName returns a name in lower case without the signs between its words, and
// without a unit in brackets behind it.
func foldName(name string) string {
	stem, _, brackets := splitUnit(name)
	if !brackets {
		stem = name
	}
	return foldWords(stem)
}

var signsBetween = strings.NewReplacer(" ", "", "_", "", "-", "", ".", "")

func foldWords(name string) string {
	return signsBetween.Replace(strings.ToLower(strings.TrimSpace(name)))
}

// meaning is the canonical column that a name means with the unit that it ends in, or
// what to say where that is no unit of it.
func meaning(name, folded string) (as, unit, doubt string) {
	stem, end, brackets := splitUnit(name)
	if as = canonical(folded); as != "" && !brackets {
		return as, "", ""
	}
	if as == "" {
		stem = foldWords(stem)
		as = cmp.Or(canonical(stem), withUnit[stem])
	}
	if as == "" || end == "" {
		return as, "", ""
	}
	if unit = unitOf(as, end); unit != "" {
		if as == samples.Latency && !brackets {
			unit = "" // which latencyUnit finds, and says
		}
		return as, unit, ""
	}
	field, _ := samples.Lookup(as)
	if field.Kind == table.Time {
		return "", "", fmt.Sprintf("column %q may be the time and is not taken for it: %s are no unit of time that is known; in nanoseconds it would be %s", name, end, mapFlag(as, name+":ns"))
	}
	if brackets && !slices.Contains(shares, end) {
		return as, end, "" // as it is written
	}
	return "", "", ""
}

// shares stand behind names of what they are shares of.
var shares = []string{"%", "percent", "share"}

func canonical(folded string) string {
	if _, ok := samples.Lookup(folded); ok {
		return folded
	}
	return alsoCalled[folded]
}

func (r *Reading) giveWay(folded []string) {
	for i, f := range folded {
		if other, ok := giveWay[f]; ok && slices.Contains(folded, other) {
			r.As[i] = ""
		}
	}
}

// localWeight takes perf's weight of one sample for its latency where a level
// says that the sample is of a memory access, and for a cost otherwise: what it
// weighs is the event's affair.
func (r *Reading) localWeight(folded []string) {
	i := slices.Index(folded, "localweight")
	switch {
	case i < 0 || r.As[i] != "":
	case slices.Contains(r.As, samples.Level) && !slices.Contains(r.As, samples.Latency):
		r.As[i] = samples.Latency
	case !slices.Contains(r.As, samples.Weight):
		r.As[i] = samples.Weight
	}
}

// symbol tells the symbol of the code from that of the data, which is our own
// word for it. In another spelling the word alone says neither.
func (r *Reading) symbol(names, folded []string, fixed func(int) bool) {
	i := slices.Index(folded, samples.Symbol)
	if i < 0 || fixed(i) {
		return
	}
	data := slices.ContainsFunc(slices.Concat(r.As[:i], r.As[i+1:]), func(as string) bool { return as == samples.Symbol })
	code := slices.Contains(r.As, samples.Function)
	file := slices.ContainsFunc(ofCode, func(f string) bool { return slices.Contains(folded, f) })
	switch {
	case data && code:
		r.As[i] = ""
	case data:
		r.As[i] = samples.Function
	case names[i] == samples.Symbol || code:
	case file:
		r.As[i] = samples.Function
	default:
		r.As[i] = ""
	}
}

// source takes what stands beside a line for its file. Alone it may as well be what
// served an access.
func (r *Reading) source(folded []string, fixed func(int) bool) {
	i := slices.Index(folded, "source")
	if i >= 0 && !fixed(i) && r.As[i] == "" && slices.Contains(r.As, samples.Line) && !slices.Contains(r.As, samples.File) {
		r.As[i] = samples.File
	}
}

// onlyOne takes none of several columns that mean the same, unless one has the
// very name.
func (r *Reading) onlyOne(names []string) {
	columns := map[string][]int{}
	for i, as := range r.As {
		if as != "" {
			columns[as] = append(columns[as], i)
		}
	}
	for _, as := range slices.Sorted(maps.Keys(columns)) {
		same := columns[as]
		if len(same) == 1 {
			continue
		}
		exact := false
		var list, maps []string
		for _, i := range same {
			exact = exact || names[i] == as
			if names[i] != as {
				r.As[i] = ""
			}
			list, maps = append(list, names[i]), append(maps, mapFlag(as, names[i]))
		}
		if !exact {
			r.Doubts = append(r.Doubts, fmt.Sprintf("%s: columns %s could be it and none is taken; say which with %s", as, quoted(list), strings.Join(maps, " or ")))
		}
	}
}

func (r *Reading) doubt(names, folded []string, fixed func(int) bool) {
	for i, f := range folded {
		if r.As[i] != "" || fixed(i) {
			continue
		}
		var flags, labels []string
		stem, unit, _ := splitUnit(names[i])
		could, ok := mayBe[f]
		if !ok {
			could = mayBe[foldWords(stem)]
		}
		for _, as := range could {
			if isUnit(unit) && unitOf(as, unit) == "" {
				continue
			}
			if field, _ := samples.Lookup(as); !slices.Contains(r.As, as) {
				flags, labels = append(flags, mapFlag(as, names[i])), append(labels, field.Label)
			}
		}
		if len(flags) > 0 {
			r.Doubts = append(r.Doubts, fmt.Sprintf("column %q may be the %s and is not taken for it; if it is, say so with %s", names[i], strings.Join(labels, " or the "), strings.Join(flags, " or ")))
		}
	}
}

// mapFlag is what to write in a shell to name a column.
func mapFlag(as, name string) string { return "--map " + shellWord(as+"="+name) }

// shellWord is a text as a shell takes it for one word.
func shellWord(text string) string {
	if !strings.ContainsAny(text, " \t()[]{}&;|<>$#*?!\"'\\`~") {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// recognise gives columns that are canonical but for their spelling, a unit
// behind the name or another writer's word their canonical name, and returns
// what it took for what. A column whose values are not what its name promises
// keeps its name: a guess makes no import fail.
func recognise(columns []*table.Column, sources map[string]source, mapped map[string]string) (said []string) {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	fixed := func(i int) bool {
		_, ok := mapped[names[i]]
		return ok || columns[i].Provenance != table.Unknown && columns[i].Provenance != table.Absent
	}
	r := ReadNames(names, fixed)
	for i, c := range columns { // a name that is taken by another column is free first
		if _, ok := samples.Lookup(c.Name); ok && r.As[i] != c.Name {
			c.Name += "_file"
		}
	}
	for i, c := range columns {
		as := r.As[i]
		if as == "" || as == names[i] {
			continue
		}
		field, _ := samples.Lookup(as)
		if why := misfit(c, field); why != "" {
			said = append(said, fmt.Sprintf("%s: column %q could be it and is not taken: %s; say otherwise with %s", as, names[i], why, mapFlag(as, names[i])))
			continue
		}
		said = append(said, fmt.Sprintf("%s: column %q is taken for it", as, names[i]))
		from := source{file: names[i]}
		if field.Kind != table.Time { // whose unit is found in the name
			from.unit = r.Units[i]
		}
		sources[as] = from
		c.Name = as
		columns[i] = ownWords(c)
	}
	return append(said, r.Doubts...)
}

// misfit says why a column's values cannot be those of a canonical one; empty
// if they can.
func misfit(c *table.Column, field samples.Field) string {
	if c.Provenance == table.Absent {
		return ""
	}
	if words, ok := spellings[field.Name]; ok && c.Kind == table.Category && !slices.ContainsFunc(c.Dict, func(w string) bool { _, known := words.of(w); return known }) {
		return fmt.Sprintf("none of its words (%s) is a %s that is known", quoted(c.Dict), words.thing)
	}
	if level := func(w string) bool { _, known := samples.LevelOf(w); return known }; field.Name == samples.File && slices.ContainsFunc(c.Dict, level) {
		return fmt.Sprintf("some of its words (%s) are levels", quoted(c.Dict))
	}
	if field.Kind == table.Time {
		if c.Kind == table.Category {
			return "its values are words"
		}
		return ""
	}
	if _, err := convert(c, field); err != nil {
		return fmt.Sprintf("its values are of kind %v, not %v", c.Kind, field.Kind)
	}
	return ""
}

var (
	markOfPerf = regexp.MustCompile(`^\[[.kgu]\] `) // where the code runs, before a symbol
	offset     = regexp.MustCompile(`\+0x[0-9a-f]+$`)
	noName     = regexp.MustCompile(`^(0x[0-9a-f]+|[0-9a-f]{16})$`)
)

// ownWords takes from the names of perf what is beside them: the mark of where
// code runs and the distance from the start of an object. An address in the
// place of a name is no name.
func ownWords(c *table.Column) *table.Column {
	if c.Kind != table.Category || c.Name != samples.Function && c.Name != samples.Symbol || !slices.ContainsFunc(c.Dict, markOfPerf.MatchString) {
		return c
	}
	names := make([]string, len(c.Dict))
	for i, name := range c.Dict {
		name = markOfPerf.ReplaceAllString(name, "")
		if c.Name == samples.Symbol {
			name = offset.ReplaceAllString(name, "")
		}
		if !noName.MatchString(name) {
			names[i] = name
		}
	}
	return reworded(c, names)
}
