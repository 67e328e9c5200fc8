package record

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/table"
)

// Names that a recording cannot give are said, with how much they are and what
// would give them.

// worthSaying is the least share of the samples that a sentence is made for, and
// leastSamples how many there must be to speak of shares.
const (
	worthSaying  = 0.05
	leastSamples = 50
)

// makers are programs and libraries that make code while they run, by the start of
// the names of their files, and how they are asked for names.
var makers = []struct{ module, ask string }{
	{"node", "'node --perf-basic-prof …' names the functions of the script"},
	{"libnode", "'node --perf-basic-prof …' names the functions of the script"},
	{"libjvm", "'java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit …' (17 and later) names its methods"},
	{"libcoreclr", "'DOTNET_PerfMapEnabled=1' in the environment names its methods"},
	{"libluajit", "its compiler writes no names"},
	{"libphp", "'opcache.jit_debug=0x10' writes names"},
	{"php", "'opcache.jit_debug=0x10' writes names"},
	{"julia", "'ENABLE_JITPROFILING=1' in the environment writes names"},
	{"libjulia", "'ENABLE_JITPROFILING=1' in the environment writes names"},
}

// unnamed are the sentences about samples whose code or memory has no good name.
func unnamed(samples *table.Table, heap *run.Heap, pythons *pythons) []string {
	var out []string
	for _, s := range []string{unnamedCode(samples), unnamedScript(samples, pythons), unnamedMemory(samples, heap)} {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// unnamedCode is about code in no file.
func unnamedCode(samples *table.Table) string {
	module, pid := samples.Column("module"), samples.Column("pid")
	n, ask := 0, map[string]int{}
	asks := map[float64]string{} // by process
	for i := range samples.Rows() {
		for _, m := range makers {
			if strings.HasPrefix(cellText(module, i), m.module) {
				asks[pid.Float(i)] = m.ask
			}
		}
	}
	for i := range samples.Rows() {
		if nameless(cellText(module, i)) {
			n++
			ask[asks[pid.Float(i)]]++
		}
	}
	if !enough(n, samples.Rows()) {
		return ""
	}
	how := slices.MaxFunc(slices.Sorted(maps.Keys(ask)), func(a, b string) int { return cmp.Compare(ask[a], ask[b]) })
	if how == "" {
		how = "a perf map or a jitdump of its compiler would name it"
	}
	return fmt.Sprintf("%s of the samples are in code that was made while the program ran, and has no names: %s", percentOf(n, samples.Rows()), how)
}

// nameless reports whether a module is memory in which code was made: nothing, or a
// name of the kernel's for memory without a file. Code with names has a module of
// its own.
func nameless(module string) bool {
	switch module {
	case "", "//anon", "[anon]", "[heap]", "[stack]":
		return true
	}
	return strings.HasPrefix(module, "[anon:") || strings.HasPrefix(module, "memfd:")
}

// unnamedScript is about time in Python, whose functions are no code. Where its frames
// are read it is said apart why some are missing.
func unnamedScript(samples *table.Table, pythons *pythons) string {
	module, script, stack, pid := samples.Column("module"), samples.Column("script"), samples.Column("stack"), samples.Column("pid")
	var in []bool
	if stack != nil {
		in = make([]bool, len(stack.Dict))
		for i, text := range stack.Dict {
			in[i] = strings.Contains(text, "_PyEval_EvalFrame")
		}
	}
	n, versions := 0, map[string]int{}
	for i := range samples.Rows() {
		version, ok := pythonOf(cellText(module, i))
		if !ok && (stack == nil || !stack.Has(i) || !in[stack.Data.([]uint32)[i]]) || script != nil && script.Has(i) || pythons.reads(int32(pid.Float(i))) {
			continue
		}
		n++
		versions[version]++
	}
	delete(versions, "")
	if !enough(n, samples.Rows()) {
		return ""
	}
	how := "'python3 -X perf …' (3.12 and later) names the functions of the script"
	if len(versions) == 1 {
		for v := range versions {
			if minor, err := strconv.Atoi(strings.TrimPrefix(v, "3.")); err == nil && minor >= 12 {
				how = "'python3 -X perf …', or PYTHONPERFSUPPORT=1 in the environment, names the functions of the script"
			} else {
				how = fmt.Sprintf("this is Python %s; they are read from 3.9 to 3.11 on x86-64, where callers are recorded, and from 3.12 on 'python3 -X perf …' names them", v)
			}
		}
	}
	return fmt.Sprintf("%s of the samples are in the interpreter of Python, for no function that is known: %s", percentOf(n, samples.Rows()), how)
}

// pythonOf reports whether a file is an interpreter of Python, and its version.
func pythonOf(module string) (version string, ok bool) {
	name := path.Base(module)
	for _, prefix := range []string{"libpython", "python"} {
		if rest, is := strings.CutPrefix(name, prefix); is {
			rest, _, _ = strings.Cut(rest, ".so")
			return strings.TrimRight(rest, "dmt"), rest == "" || rest[0] == '2' || rest[0] == '3'
		}
	}
	return "", false
}

// unnamedMemory is about addresses in memory that is called by its mapping.
func unnamedMemory(samples *table.Table, heap *run.Heap) string {
	source, symbolOf := samples.Column("object_source"), samples.Column("symbol")
	n, named := 0, 0
	for i := range samples.Rows() {
		switch from := cellText(source, i); {
		case from == "":
			continue
		case from == string(symbol.FromAnonymous), from == string(symbol.FromMapping) && cellText(symbolOf, i) == "[heap]":
			n++
		}
		named++
	}
	if !enough(n, named) {
		return ""
	}
	why := ""
	switch {
	case heap != nil && heap.Absent != "":
		why = "there is no allocation log: " + heap.Absent
	case heap != nil && heap.Threshold > 1:
		why = fmt.Sprintf("--heap-threshold 1 logs allocations below %s too; what the program maps itself can be named with clients/isobath.h", term.Bytes(uint64(heap.Threshold)))
	default:
		why = "the program maps it itself; clients/isobath.h gives it names"
	}
	return fmt.Sprintf("%s of the samples with an object are in memory that is called by its mapping: %s", percentOf(n, named), why)
}

func enough(n, of int) bool {
	return of >= leastSamples && n > 0 && float64(n) >= worthSaying*float64(of)
}

func percentOf(n, of int) string { return term.Percent(float64(n) / float64(max(of, 1))) }
