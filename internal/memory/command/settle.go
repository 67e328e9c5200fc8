package command

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

// settle orders a list by what is known of it by now: what selects nothing comes
// last. What the data cannot answer stays in its place, for it says why. No list
// that has room ends without an offer to look for names, or for help.
func (c *Catalogue) settle(text string, list []Suggestion, most int) []Suggestion {
	out := make([]Suggestion, 0, len(list)+len(offers))
	sure := false
	// Where what was clearly meant selects nothing, a guess at less of it would be
	// taken for it: what only shows its axes may stand first.
	nothing := len(list) > 0 && list[0].empty() && list[0].Score >= certain
	for _, s := range list {
		if !s.empty() && !(nothing && (s.Selects || s.Action == Correlate)) {
			out = append(out, s)
			sure = sure || s.Missing == "" && s.Score >= doubtful
		}
	}
	if !sure {
		out = append(out, c.offers(text)...)
	}
	for _, s := range list {
		if s.empty() {
			out = append(out, s)
		}
	}
	return out[:min(len(out), most)]
}

// empty says that running it would select nothing.
func (s *Suggestion) empty() bool { return s.Samples != nil && *s.Samples == 0 }

// doubtful is the score below which the best suggestion may well not be what was
// meant.
const doubtful = 0.6

// OfferScore is the score of what is offered where words name nothing.
const OfferScore = 0.2

// offers are what is left to do with words that name nothing.
var offers = []Suggestion{
	{Text: "help", Action: Help, Axes: []string{}, Score: OfferScore, Does: "shows all keys and what can be typed here"},
	{Text: "guide", Action: Help, Target: "guide", Axes: []string{}, Score: OfferScore, Does: "shows where the guide explains this page"},
}

// offers looks for the words inside names, and ends with help.
func (c *Catalogue) offers(text string) []Suggestion {
	var out []Suggestion
	word := strings.TrimSpace(clip(text))
	for _, column := range []string{samples.Symbol, samples.Function, samples.File} {
		col := samples.UsableAs(c.table, column, table.Category)
		if col == nil || word == "" || !slices.ContainsFunc(col.Dict, func(v string) bool { return strings.Contains(strings.ToLower(v), strings.ToLower(word)) }) {
			continue
		}
		re, err := regexp.Compile("(?i)" + regexp.QuoteMeta(word))
		if err != nil {
			continue
		}
		where := query.Match{Column: column, Re: re}.String()
		out = append(out, Suggestion{Text: fmt.Sprintf("search names of %s for %s", column, word), Action: Select, Where: where, Axes: []string{column}, Score: 0.3, Selects: true,
			Does: fmt.Sprintf("selects samples whose %s has %q in its name", column, word)})
	}
	return append(out, offers...)
}
