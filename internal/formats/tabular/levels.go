package tabular

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
)

// levelWord begins a mapping of a word in the level column: --map level:HBM="Local RAM".
const levelWord = samples.Level + ":"

// splitMap divides what the user maps into columns and words of the level column.
func splitMap(m map[string]string) (columns, words map[string]string) {
	columns, words = map[string]string{}, map[string]string{}
	for key, value := range m {
		if word, ok := strings.CutPrefix(key, levelWord); ok {
			words[word] = value
		} else {
			columns[key] = value
		}
	}
	return columns, words
}

// spellLevels gives every word of the level column our spelling, so that it
// counts where levels are counted. Words that mean nothing known stay, and are
// named in what it says.
func spellLevels(c *table.Column, mapped map[string]string) (*table.Column, string, error) {
	ours, unknown, err := levelNames(c.Dict, mapped)
	if err != nil {
		return nil, "", err
	}
	in := table.NewInterner()
	codes, out := c.Data.([]uint32), make([]uint32, c.Len())
	for i, code := range codes {
		if c.Has(i) && int(code) < len(ours) {
			out[i] = in.CodeString(ours[code])
		}
	}
	spelled := table.Categories(c.Name, c.Provenance, out, in.Names(), c.Valid)
	spelled.Note, spelled.Label = c.Note, c.Label
	if len(unknown) == 0 {
		return spelled, "", nil
	}
	example := "level:" + unknown[0] + "=L3"
	if strings.ContainsFunc(example, func(r rune) bool { return r == ' ' || r == '(' || r == ')' || r == '&' || r == ';' }) {
		example = "'" + example + "'" // as a shell takes it for one word
	}
	return spelled, fmt.Sprintf("level: %s %s no level that is known and %s where levels are counted; say which with --map %s",
		quoted(unknown), verb(unknown, "is", "are"), verb(unknown, "is left out", "are left out"), example), nil
}

func levelNames(words []string, mapped map[string]string) (ours, unknown []string, err error) {
	left := maps.Clone(mapped)
	ours = make([]string, len(words))
	for i, w := range words {
		want, said := mapped[w]
		delete(left, w)
		level, known := samples.LevelOf(w)
		if said {
			if level, known = samples.LevelOf(want); !known {
				return nil, nil, fmt.Errorf("--map level:%s=%s: %q is no level; want L1, LFB, L2, L3, Local RAM, Remote RAM or Remote Cache", w, want, want)
			}
		}
		if !known {
			level, unknown = w, append(unknown, w)
		}
		ours[i] = level
	}
	if len(left) > 0 {
		return nil, nil, fmt.Errorf("--map level:%s: the level column has no word %q; it has %s",
			slices.Sorted(maps.Keys(left))[0], slices.Sorted(maps.Keys(left))[0], quoted(words))
	}
	return ours, unknown, nil
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
