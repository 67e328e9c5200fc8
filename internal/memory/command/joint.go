package command

import (
	"slices"
	"strings"
)

// conjunctions say that what stands on both sides holds, or one of them.
var conjunctions = map[string]string{"and": " & ", "&": " & ", "&&": " & ", "plus": " & ", "or": " | ", "|": " | ", "||": " | "}

// mostParts is how many sets of samples one command joins.
const mostParts = 4

// clearly is the score from which on a few words without "and" between them
// count as the name of a set by themselves.
const clearly = 0.85

// joint reads an input as several sets of samples: "dram and remote",
// "l3 or latency > 200", "l2 misses slow".
func (c *Catalogue) joint(text string, ctx *Context) []Suggestion {
	fields := strings.Fields(spaced(clip(text)))
	if len(fields) < 2 {
		return nil
	}
	// "slow" and "remote" are a slip away from verbs: only a whole one counts.
	switch verb, sure := verbOf(fields[0], true); {
	case sure && verb == Select, !sure && verb == Select && len(fields[0]) > 3:
		fields = fields[1:]
	case sure:
		return nil
	}
	parts, sign := conjoined(fields)
	switch {
	case len(parts) > 1 && len(parts) <= mostParts:
		return c.said(parts, sign, ctx)
	case len(parts) == 1:
		return c.unsaid(fields)
	}
	return nil
}

// conjoined cuts at conjunctions, all of one kind; "10 and 20" stays together.
func conjoined(fields []string) (parts [][]string, sign string) {
	from := 0
	for i, f := range fields {
		s, ok := conjunctions[strings.ToLower(f)]
		if !ok || i == from || i+1 == len(fields) || isNumber(fields[i-1]) && isNumber(fields[i+1]) {
			continue
		}
		if sign != "" && s != sign {
			return nil, ""
		}
		parts, sign, from = append(parts, fields[from:i]), s, i+1
	}
	return append(parts, fields[from:]), sign
}

// said joins parts with a conjunction between them. Only the best meaning of
// each but the last is taken: it was typed to its end, as a rule.
func (c *Catalogue) said(parts [][]string, sign string, ctx *Context) []Suggestion {
	var first []Suggestion
	for i, words := range parts {
		var in input
		in.take(words)
		if len(in.blocks) != 1 {
			return nil
		}
		found := best(c.selected(in, ctx), 3)
		found = slices.DeleteFunc(found, func(s Suggestion) bool { return s.Resolved() && s.Where == "" && s.Missing == "" })
		if len(found) == 0 {
			return nil
		}
		if i < len(parts)-1 {
			first = append(first, found[0])
			continue
		}
		out := make([]Suggestion, 0, len(found))
		for _, last := range found {
			out = append(out, join(append(slices.Clone(first), last), sign))
		}
		return out
	}
	return nil
}

// unsaid cuts words into names of phenomena without being told where. Values of
// categories are left out: there are too many of them to guess.
func (c *Catalogue) unsaid(fields []string) []Suggestion {
	words := split(strings.Join(fields, " "))
	if len(words) < 2 || len(words) > 8 {
		return nil
	}
	type way struct {
		score float64
		sets  []int
	}
	ways := make([]way, len(words)+1) // the best one to cut the words before
	ways[0].score = 1
	for end := 1; end <= len(words); end++ {
		for from := max(0, end-4); from < end; from++ {
			if ways[from].score == 0 || len(ways[from].sets) == mostParts {
				continue
			}
			m := c.phenomenon(words[from:end])
			if m.score < clearly || slices.Contains(ways[from].sets, m.entry) {
				continue
			}
			if s := min(ways[from].score, m.score); s > ways[end].score {
				ways[end] = way{s, append(slices.Clone(ways[from].sets), m.entry)}
			}
		}
	}
	found := ways[len(words)]
	if len(found.sets) < 2 {
		return nil
	}
	parts := make([]Suggestion, len(found.sets))
	for i, n := range found.sets {
		parts[i] = c.suggest(scored{n, found.score}, &Context{})
	}
	s := join(parts, " & ")
	s.Score *= 0.97 // one thing with all these words in its name comes first
	return []Suggestion{s}
}

// phenomenon is the one that words name best.
func (c *Catalogue) phenomenon(words []string) scored {
	var top scored
	for id, s := range c.sets.find(words) {
		if n := int(c.sets.phrases[id].entry); float64(s) > top.score && c.entries[n].where+c.entries[n].missing != "" || float64(s) > top.score && c.entries[n].lazy != nil {
			top = scored{n, float64(s)}
		}
	}
	return top
}

// join makes one command of several selections.
func join(parts []Suggestion, sign string) Suggestion {
	word := " and "
	if sign == " | " {
		word = " or "
	}
	s := Suggestion{Action: Select, Axes: []string{}, Score: 1, Selects: true}
	var names, does []string
	var clauses []clause
	resolved := true
	for i := range parts {
		p := &parts[i]
		s.Score = min(s.Score, p.Score)
		s.Missing = strings.TrimPrefix(s.Missing+"; "+p.Missing, "; ")
		names = append(names, strings.TrimPrefix(p.Text, "select "))
		does = append(does, strings.TrimPrefix(p.Does, "selects "))
		for _, a := range p.Axes {
			if !slices.Contains(s.Axes, a) {
				s.Axes = append(s.Axes, a)
			}
		}
		one := p.where
		if one == nil {
			one = fixed(p.Where)
		}
		resolved = resolved && p.where == nil
		clauses = append(clauses, one)
	}
	s.Missing = strings.TrimSuffix(s.Missing, "; ")
	s.Text = "select " + strings.Join(names, word)
	s.Does = "selects what is both " + strings.Join(does, " and ")
	if len(parts) > 2 || sign == " | " {
		s.Does = "selects " + strings.Join(does, word)
	}
	if s.Missing != "" {
		s.Selects = false
		return s
	}
	s.where = joined(clauses, sign)
	if resolved {
		s.Where, _ = s.where(nil)
		s.where = nil
	}
	return s
}
