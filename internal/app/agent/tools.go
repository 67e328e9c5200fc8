package agent

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/locality/platform"
)

// tool is one question that an agent may ask: a verb of the command line with
// some of its flags.
type tool struct {
	name, about string
	verb        string
	parameters  []parameter
	// provenance says what kind of statement the answer is, beside what is said of
	// each column: measured, derived or modelled.
	provenance string
	kinds      string // of data it answers about
}

// parameter is an argument of a tool and what it becomes on the command line.
type parameter struct {
	name, about string
	kind        string // string, integer, boolean or file
	required    bool
	values      []string // if set, the only ones
	least, most int      // of an integer
	otherwise   any      // what is taken if it is not given
	position    bool     // stands by itself; otherwise a flag of its name
}

func file(about string) parameter {
	return parameter{name: "file", about: about, kind: "file", required: true, position: true}
}

func text(name, about string) parameter { return parameter{name: name, about: about, kind: "string"} }

func choice(name, about string, values ...string) parameter {
	return parameter{name: name, about: about, kind: "string", values: values}
}

func top(otherwise int) parameter {
	return parameter{name: "top", about: "how many entries", kind: "integer", least: 1, most: 100, otherwise: otherwise}
}

var (
	where = text("where", `selection of samples, such as: latency > 200 & level in (L3, "Local RAM") & cpu in 0..10`)
	// A machine could also be a file: agents may name only those that are built in.
	machine = choice("machine", "whose caches: a built-in machine (default: that of the run, else this one)", append(platform.Presets(), "local")...)
)

// tools are all questions, in the order in which they are usually asked.
func tools() []tool {
	aFile := file("which file")
	return []tool{
		{name: "open", about: "Begin here: what a file holds, where its columns come from, and which tools fit it.", verb: "info",
			parameters: []parameter{aFile}, provenance: "derived: counted in the file"},
		{name: "info", about: "Everything about a file: columns with unit, origin, range; topology; recording; warnings.", verb: "info",
			parameters: []parameter{aFile}, provenance: "derived: counted in the file"},
		{name: "insights", about: "What is worth a look in memory samples, ranked; each finding has a selection for the other tools. Empty means nothing stands out from chance.",
			verb: "insights", kinds: "samples", parameters: []parameter{aFile, where, top(8)},
			provenance: "derived from the samples; a finding over modelled columns is as good as its model"},
		{name: "report", about: "Where the cost goes, ranked by groups.", verb: "report", kinds: "samples",
			parameters: []parameter{aFile, text("by", "line, file, function, caller, symbol, field, cacheline, cpu, node, level, tid or any column; several with commas (default line)"), where,
				choice("order", "what ranks", "latency", "samples", "mean", "key"), top(12),
				{name: "spread", about: "how each group spreads over levels and latencies", kind: "boolean"},
				{name: "touches", about: "instead: who touched the pages of each object first, and on which memory node", kind: "boolean"},
				{name: "allocations", about: "instead: what each place of the program allocates, how long that lives, and how many samples are in it", kind: "boolean"}},
			provenance: "derived: sums over samples; the field provenance of the answer is that of the latency"},
		{name: "search", about: "What a few words of plain language select, with the number of samples.", verb: "search", kinds: "samples",
			parameters: []parameter{aFile, {name: "text", about: "a few words, such as: remote memory on node 1", kind: "string", required: true, position: true}, top(8)},
			provenance: "derived: counted in the samples"},
		{name: "source", about: "Lines of a source file of the run, with what each costs.", verb: "source", kinds: "samples",
			parameters: []parameter{aFile, {name: "place", about: "NAME or NAME:LINE, as report gives them", kind: "string", required: true, position: true}, where,
				{name: "context", about: "lines before and after LINE", kind: "integer", least: 0, most: 100, otherwise: 8}},
			provenance: "text as recorded; costs derived from samples"},
		{name: "steps", about: "Message-passing traces: who was late, why, who waited, and what the run would gain without it (gains, best first).", verb: "steps", kinds: "trace",
			parameters: []parameter{aFile, top(5), {name: "critical", about: "the critical path too", kind: "boolean"},
				{name: "profile", about: "time by region, communication matrix, waiting times too", kind: "boolean"},
				text("range", "only steps A:B, B not included")},
			provenance: "lateness is derived from recorded times; gains are modelled by replay"},
		{name: "loops", about: "Reference traces: the loops with their counts and costs.", verb: "loops", kinds: "refs",
			parameters: []parameter{aFile, machine}, provenance: "derived; a loop's field exact says whether its counts were checked"},
		{name: "reuse", about: "Reference traces: how far apart uses of the same data lie, and what caches make of it.", verb: "reuse", kinds: "refs",
			parameters: []parameter{aFile, choice("by", "groups (default line)", "line", "function", "object", "field", "loop", "pc", "thread", "class"), machine, text("where", "only references that a selection means"), top(12)},
			provenance: "distances are derived exactly; misses are modelled for a machine"},
		{name: "advise", about: "Reference traces: what to change, best first; every change is replayed before it is printed. Empty means nothing was found that helps.", verb: "advise", kinds: "refs",
			parameters: []parameter{aFile, machine, text("kind", "only these, with commas: align, pad, reorder, split, soa, interchange, block, huge, place, order"),
				text("object", "only changes of this object"), top(5)}, provenance: "modelled: replayed on a machine model, not timed"},
		{name: "diff", about: "What changed from run A to run B, group by group, and whether that may be chance.", verb: "diff", kinds: "samples or trace",
			parameters: []parameter{{name: "a", about: "the run before", kind: "file", required: true, position: true}, {name: "b", about: "the run after", kind: "file", required: true, position: true},
				text("by", "line, file, function, symbol, cpu, node, level, tid or any column (default line)"), where, text("metric", "cost, share, samples, mean, cpu, wall or a level (default cost)"), top(12)},
			provenance: "derived with intervals; a verdict says what chance could do"},
	}
}

// schema is the tool's parameters as JSON Schema; files are the names that may be
// given.
func (t *tool) schema(files []string) map[string]any {
	properties := map[string]any{}
	required := []string{}
	for _, p := range t.parameters {
		s := map[string]any{"type": p.kind, "description": p.about}
		switch {
		case p.kind == "file":
			s["type"], s["enum"] = "string", files
		case p.values != nil:
			s["enum"] = p.values
		case p.kind == "integer":
			s["minimum"], s["maximum"] = p.least, p.most
		}
		if p.otherwise != nil {
			s["default"] = p.otherwise
		}
		properties[p.name] = s
		if p.required {
			required = append(required, p.name)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

// check holds that the values are what the schema says.
func (t *tool) check(values map[string]any, files []string) error {
	for name := range values {
		if !slices.ContainsFunc(t.parameters, func(p parameter) bool { return p.name == name }) {
			return fmt.Errorf("%s has no parameter %q", t.name, name)
		}
	}
	for _, p := range t.parameters {
		v, given := values[p.name]
		if !given && p.required {
			return fmt.Errorf("%s needs the parameter %q: %s", t.name, p.name, p.about)
		}
		if given {
			if err := p.check(v, files); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
		}
	}
	return nil
}

// longestText bounds a text that an agent gives.
const longestText = 4 << 10

func (p *parameter) check(v any, files []string) error {
	switch p.kind {
	case "boolean":
		if _, ok := v.(bool); !ok {
			return fmt.Errorf("want true or false, not %v", v)
		}
	case "integer":
		n, ok := v.(float64)
		if !ok || n != math.Trunc(n) || n < float64(p.least) || n > float64(p.most) {
			return fmt.Errorf("want a number from %d to %d, not %v", p.least, p.most, v)
		}
	default:
		s, ok := v.(string)
		values := p.values
		if p.kind == "file" {
			values = files
		}
		if !ok || (values != nil && !slices.Contains(values, s)) {
			return fmt.Errorf("want one of %s, not %v", strings.Join(values, ", "), v)
		}
		if len(s) > longestText || strings.ContainsRune(s, 0) {
			return fmt.Errorf("want text of at most %d bytes", longestText)
		}
	}
	return nil
}

// arguments is the command line of a question. Texts of agents cannot become
// flags: they stand after the = of one, or after all of them.
func (t *tool) arguments(values map[string]any, path func(string) string) []string {
	args := []string{t.verb}
	var positions []string
	for _, p := range t.parameters {
		v, ok := values[p.name]
		if !ok {
			v = p.otherwise
		}
		if v == nil || v == false || (v == "" && !p.required) {
			continue
		}
		word := fmt.Sprint(v)
		if p.kind == "file" {
			word = path(word)
		}
		switch {
		case p.position:
			positions = append(positions, word)
		case v == true:
			args = append(args, "--"+p.name)
		default:
			args = append(args, "--"+p.name+"="+word)
		}
	}
	args = append(args, "--json")
	// Paths are absolute; other words may begin with a dash.
	if slices.ContainsFunc(positions, func(s string) bool { return strings.HasPrefix(s, "-") }) {
		args = append(args, "--")
	}
	return append(args, positions...)
}
