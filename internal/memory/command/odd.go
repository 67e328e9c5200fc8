package command

import (
	"slices"

	"github.com/isobath/isobath/internal/data/samples"
)

// oddWords say that something is not like the others of its kind; insights name such
// things.
var oddWords = wordSet("odd oddest strange weird unusual uncommon abnormal anomaly anomalies anomalous atypical suspicious peculiar exceptional unexpected outlier outliers outlying deviating deviant " +
	"different differently unlike")

// aroundOdd are words beside them that name nothing.
var aroundOdd = wordSet("what which who anything something any is are was were there the a all of in among at that this behave behaves behaving look looks looking seem seems act acts other others rest from here run to me please show find ones one thing things")

// odd reads "odd cpus", "which threads behave differently", "what stands out".
func (c *Catalogue) odd(text string) []Suggestion {
	tokens := tokensOf(text)
	said, named, missing := false, false, ""
	for at := 0; at < len(tokens); {
		word := tokens[at].word
		switch {
		case tokens[at].isNumber():
			return nil
		case saidAt(tokens, at, "stands out")+saidAt(tokens, at, "stand out")+saidAt(tokens, at, "sticks out") > 0:
			said, named, at = true, true, at+2
			continue
		case oddWords[word]:
			said = true
		case aroundOdd[word]:
			named = true
		default:
			column, end := c.axisAt(tokens, at)
			switch {
			case column != "" && (slices.Contains(grouping, column) || column == samples.Host):
				at = end - 1
			case placeWords[stem(word)] == "" && c.absent[stem(word)] == "":
				return nil
			case column == "":
				missing = c.absent[stem(word)]
			}
			named = true
		}
		at++
	}
	if !said || !named && stem(tokens[0].word) == "outlier" {
		return nil // "outliers" alone are samples
	}
	list := c.page("insights")
	if missing != "" {
		for i := range list {
			list[i].Missing = missing
		}
	}
	return list
}
