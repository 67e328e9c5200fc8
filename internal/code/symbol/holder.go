package symbol

import (
	"os"
	"regexp"
	"strings"

	"github.com/isobath/isobath/internal/base/plainfile"
)

// Who holds an allocation is what its user calls it: the variable that the line
// which made it gives it to. The line is known, so its text says so, where it is
// one of the few forms that leave no doubt; all others have no holder.

// holderForms are statements that give an allocation to what their first group
// names.
var holderForms = []*regexp.Regexp{
	// m_x.resize(n); and its kind: containers allocate for themselves.
	regexp.MustCompile(`^\s*([A-Za-z_][\w.\->]*?(?:\[[^\]]*\])?)\s*(?:\.|->)\s*(?:resize|reserve|assign|push_back|emplace_back|shrink_to_fit)\s*\(`),
	// std::vector<double> x(n); or {n}
	regexp.MustCompile(`^\s*(?:static\s+|const\s+)*(?:std::)?(?:vector|valarray|deque|string|unordered_map)\s*(?:<.*>)?\s+([A-Za-z_]\w*)\s*[({][^;]*;`),
	// x = malloc(n); double *x = new double[n]; s->x = make(n);
	regexp.MustCompile(`^\s*(?:[A-Za-z_][\w:<>,\s*&]*?[\s*&])?([A-Za-z_][\w.\->]*(?:\[[^\]]*\])?)\s*=\s*[^=;,]*(?:\bnew\b|\()[^;]*;?`),
	// posix_memalign((void **)&x, 64, n)
	regexp.MustCompile(`\bposix_memalign\s*\(\s*(?:\([^)]*\)\s*)?&\s*([A-Za-z_][\w.\->]*)`),
	// allocate(x(n)) of Fortran
	regexp.MustCompile(`(?i)^\s*allocate\s*\(\s*([a-z]\w*(?:%\w+)*)\s*\([^()]*\)\s*(?:,\s*(?:stat|source)\s*=[^)]*)?\)`),
}

// passesOn is a line that hands its allocation to its caller.
var passesOn = regexp.MustCompile(`^\s*(?:\{\s*)?return\b`)

// plainName is a variable of a function, and no member of anything.
var plainName = regexp.MustCompile(`^[A-Za-z_]\w*$`)

// maxFunction bounds the lines that are searched for what a function returns.
const maxFunction = 200

// handsOn reports whether a function returns the variable that one of its lines, from
// 1, gives an allocation to, as those do that check what malloc returns: its callers
// know then what it is for.
func handsOn(lines []string, line int, name string) bool {
	if !plainName.MatchString(name) {
		return false
	}
	// By itself, or as another type.
	returned := regexp.MustCompile(`\breturn\s*(?:\([\w\s:*<>]+\*\s*\)\s*|(?:static|reinterpret)_cast<[^;()]*>\s*\(|\(|\s)\s*` + name + `\s*\)?\s*;`)
	for _, text := range lines[min(line, len(lines)):min(line+maxFunction, len(lines))] {
		switch {
		case strings.HasPrefix(text, "}"):
			return false
		case returned.MatchString(text):
			return true
		}
	}
	return false
}

// severalAssignments is a line that fills more than one variable.
var severalAssignments = regexp.MustCompile(`[^=!<>+\-*/|&^]=[^=].*[^=!<>+\-*/|&^]=[^=]`)

// holder returns what a line of source gives its allocation to, "" if that is not
// certain, and whether the line hands it to its caller.
func holder(line, function string) (name string, caller bool) {
	line, _, _ = strings.Cut(line, "//")
	if passesOn.MatchString(line) {
		return "", true
	}
	if severalAssignments.MatchString(line) || strings.Count(line, ";") > 1 {
		return "", false
	}
	for _, form := range holderForms {
		if m := form.FindStringSubmatch(line); m != nil {
			return member(m[1], function), false
		}
	}
	return "", false
}

// member writes a name with the class it belongs to, where that is clear: by
// this->, or by the custom of m_x and x_.
func member(name, function string) string {
	plain := strings.TrimPrefix(name, "this->")
	own := plain != name || strings.HasPrefix(plain, "m_") || strings.HasSuffix(plain, "_")
	plain = strings.NewReplacer("->", ".", "%", ".").Replace(plain)
	if class := classOf(function); own && class != "" && !strings.Contains(plain, ".") {
		return class + "." + plain
	}
	return plain
}

// classOf returns the class of a method by its name, "" for other functions.
func classOf(function string) string {
	name, _, _ := strings.Cut(function, "(")
	if strings.ContainsAny(name, "<> ") {
		return ""
	}
	at := strings.LastIndex(name, "::")
	if at < 0 {
		return ""
	}
	name = name[:at]
	return name[strings.LastIndex(name, ":")+1:]
}

// maxSource bounds the sources that are read for names.
const maxSource = 8 << 20

// source returns the lines of a source that is not newer than the program made from
// it.
func (o *Objects) source(binary *Binary, file string) []string {
	if !o.Holders {
		return nil
	}
	lines, ok := o.sources[file]
	if !ok {
		lines = readSource(binary.Path, file)
		o.sources[file] = lines
	}
	return lines
}

// heldAt returns what a place in a source gives its allocation to, "" if that is not
// certain, and whether its function hands it to its caller.
func (o *Objects) heldAt(binary *Binary, f *Frame) (name string, caller bool) {
	lines := o.source(binary, f.File)
	if f.Line < 1 || f.Line > len(lines) {
		return "", false
	}
	name, caller = holder(lines[f.Line-1], f.Function)
	return name, caller || handsOn(lines, f.Line, name)
}

func readSource(program, file string) []string {
	source, err := os.Stat(file)
	if err != nil || !source.Mode().IsRegular() || source.Size() > maxSource {
		return nil
	}
	if made, err := os.Stat(program); err != nil || source.ModTime().After(made.ModTime()) {
		return nil
	}
	b, err := plainfile.ReadFile(file, maxSource)
	if err != nil {
		return nil
	}
	return strings.Split(string(b), "\n")
}
