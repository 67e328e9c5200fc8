package tabular

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/code/datasrc"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
)

// spelling is how the words of a canonical column are written.
type spelling struct {
	of    func(word string) (ours string, known bool)
	thing string   // what a word is
	want  []string // the words to choose from; none: others may stand as they are
	hint  string   // one of them
}

// spellings are the columns whose words are counted by their spelling.
var spellings = map[string]spelling{
	samples.Level: {samples.LevelOf, "level", []string{"L1", "LFB", "L2", "L3", "L4", "Local RAM", "Remote RAM", "Remote Cache"}, samples.L3},
	samples.Op:    {opOf, "operation", []string{"load", "store", "load+store", "prefetch"}, "load"},
	samples.Snoop: {of: datasrc.SnoopOf, thing: "result of a snoop"},
	samples.TLB:   {of: datasrc.TLBOf, thing: "translation"},
}

// opWords are the words that tools use for operations, in lower case.
var opWords = map[string]datasrc.Op{
	"r": datasrc.Load, "rd": datasrc.Load, "read": datasrc.Load, "reads": datasrc.Load, "l": datasrc.Load, "ld": datasrc.Load, "load": datasrc.Load, "loads": datasrc.Load,
	"w": datasrc.Store, "wr": datasrc.Store, "write": datasrc.Store, "writes": datasrc.Store, "s": datasrc.Store, "st": datasrc.Store, "store": datasrc.Store, "stores": datasrc.Store,
	"rw": datasrc.LoadStore, "rmw": datasrc.LoadStore, "load+store": datasrc.LoadStore, "load/store": datasrc.LoadStore, "read/write": datasrc.LoadStore, "m": datasrc.LoadStore, "modify": datasrc.LoadStore,
	"prefetch": datasrc.Prefetch, "pfetch": datasrc.Prefetch, "pf": datasrc.Prefetch,
	"exec": datasrc.Exec,
}

func opOf(word string) (string, bool) {
	op, ok := opWords[strings.ToLower(strings.TrimSpace(word))]
	return datasrc.OpNames[op], ok
}

// splitMap divides what the user maps into columns and words of columns:
// --map level:HBM="Local RAM".
func splitMap(m map[string]string) (columns map[string]string, words map[string]map[string]string) {
	columns, words = map[string]string{}, map[string]map[string]string{}
	for key, value := range m {
		name, word, ok := strings.Cut(key, ":")
		if s, counted := spellings[name]; !ok || !counted || s.want == nil {
			columns[key] = value
			continue
		}
		if words[name] == nil {
			words[name] = map[string]string{}
		}
		words[name][word] = value
	}
	return columns, words
}

// spell gives every word of a column our spelling, so that it counts where such
// words are counted. Words that mean nothing known stay, and are named in what
// it says.
func spell(c *table.Column, mapped map[string]string) (*table.Column, string, error) {
	s, ok := spellings[c.Name]
	if !ok {
		return c, "", nil
	}
	ours, unknown, err := s.names(c, mapped)
	if err != nil {
		return nil, "", err
	}
	spelled := reworded(c, ours)
	if len(unknown) == 0 || s.want == nil {
		return spelled, "", nil
	}
	return spelled, fmt.Sprintf("%s: %s %s no %s that is known and %s where %ss are counted; say which with --map %s", c.Name,
		quoted(unknown), verb(unknown, "is", "are"), s.thing, verb(unknown, "is left out", "are left out"), s.thing, shellWord(c.Name+":"+unknown[0]+"="+s.hint)), nil
}

// reworded returns a column whose words are replaced by others, by their number
// in the dictionary; an empty one is no value.
func reworded(c *table.Column, words []string) *table.Column {
	in := table.NewInterner()
	codes, out, valid := c.Data.([]uint32), make([]uint32, c.Len()), table.NewBits(c.Len())
	for i, code := range codes {
		if c.Has(i) && int(code) < len(words) && words[code] != "" {
			out[i] = in.CodeString(words[code])
			valid.Set(i)
		}
	}
	made := table.Categories(c.Name, samples.Said(valid, c.Provenance), out, in.Names(), valid)
	made.Note, made.Label = c.Note, c.Label
	return made
}

func (s spelling) names(c *table.Column, mapped map[string]string) (ours, unknown []string, err error) {
	left := maps.Clone(mapped)
	ours = make([]string, len(c.Dict))
	for i, w := range c.Dict {
		want, said := mapped[w]
		delete(left, w)
		name, known := s.of(w)
		if said {
			if name, known = s.of(want); !known {
				return nil, nil, fmt.Errorf("--map %s:%s=%s: %q is no %s; want %s", c.Name, w, want, want, s.thing, strings.Join(s.want, ", "))
			}
		}
		if !known {
			name, unknown = w, append(unknown, w)
		}
		ours[i] = name
	}
	if len(left) > 0 {
		word := slices.Sorted(maps.Keys(left))[0]
		return nil, nil, fmt.Errorf("--map %s:%s: the %s column has no word %q; it has %s", c.Name, word, c.Name, word, quoted(c.Dict))
	}
	return ours, unknown, nil
}

// Wording is a column whose words are counted by their spelling.
type Wording struct {
	Column  string   `json:"column"`
	Unknown []string `json:"unknown"` // its words that mean nothing known, and so count as nothing
	Known   []string `json:"known"`   // what they may be mapped to
}

// Wordings lists the columns of a table whose words could be mapped.
func Wordings(t *table.Table) []Wording {
	out := []Wording{}
	for _, name := range slices.Sorted(maps.Keys(spellings)) {
		s, c := spellings[name], samples.UsableAs(t, name, table.Category)
		if c == nil || s.want == nil {
			continue
		}
		w := Wording{Column: name, Unknown: []string{}, Known: s.want}
		for _, word := range c.Dict {
			if _, known := s.of(word); !known && word != "" {
				w.Unknown = append(w.Unknown, word)
			}
		}
		out = append(out, w)
	}
	return out
}

func quoted(words []string) string {
	const most = 8
	shown := words[:min(len(words), most)]
	text := make([]string, len(shown))
	for i, w := range shown {
		text[i] = fmt.Sprintf("%q", w)
	}
	if more := len(words) - len(shown); more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(text, ", "), more)
	}
	return strings.Join(text, ", ")
}

func verb(words []string, one, many string) string {
	if len(words) == 1 {
		return one
	}
	return many
}
