package command

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

// order is a statistic of a column that values are compared with.
type order struct {
	text string
	p    float64 // the quantile; of a mean 0
}

// middles are words for the middle of all values.
var middles = map[string]order{"average": {text: "mean"}, "avg": {text: "mean"}, "mean": {text: "mean"},
	"median": {"median", 0.5}, "typical": {"median", 0.5}, "usual": {"median", 0.5}, "normal": {"median", 0.5}}

// orderAt reads "the mean", "median", "p95", "the 99.9th percentile".
func orderAt(tokens []token, at int) (order, int, bool) {
	for at < len(tokens) && (tokens[at].word == "the" || tokens[at].word == "its" || tokens[at].word == "their") {
		at++
	}
	if at >= len(tokens) {
		return order{}, at, false
	}
	if o, ok := middles[tokens[at].word]; ok {
		return o, at + 1, true
	}
	number, end := "", at+1
	percentile := func(i int) bool { return i < len(tokens) && stem(tokens[i].word) == "percentile" }
	word := tokens[at].word
	switch {
	case strings.HasPrefix(word, "p") && len(word) > 1:
		number = word[1:]
	case percentile(at) && end < len(tokens) && tokens[end].isNumber():
		number, end = strconv.FormatFloat(tokens[end].number, 'g', -1, 64), at+2
	case percentile(end) && tokens[at].isNumber():
		number, end = strconv.FormatFloat(tokens[at].number, 'g', -1, 64), at+2
	case percentile(end) && len(word) > 2:
		number, end = strings.TrimRight(word, "thndrs."), at+2
	}
	p, err := strconv.ParseFloat(number, 64)
	if err != nil || !(p > 0 && p < 100) {
		return order{}, at, false
	}
	return order{number + " % quantile", p / 100}, end, true
}

// besideAt reads what lies on one side of a statistic: "slower than average",
// "latency above the median", "above average latency", "beyond p95". A high
// percentile alone is what lies above it.
func (c *Catalogue) besideAt(tokens []token, at int) []part {
	column, from := c.axisAt(tokens, at)
	var op query.Op
	for _, w := range boundWords {
		if n := saidAt(tokens, from, w.words); n > 0 && w.words != "first" {
			op, from = w.op, from+n
			break
		}
	}
	of, end, ok := orderAt(tokens, from)
	if !ok || op == query.Eq || op == "" && of.p <= 0.5 {
		return nil
	}
	if column == "" {
		next := end
		for next < len(tokens) && (tokens[next].word == "of" || tokens[next].word == "in" || tokens[next].word == "the") {
			next++
		}
		if column, next = c.axisAt(tokens, next); column != "" {
			end = next
		}
	}
	if column == "" {
		column = c.latency
	}
	if column == "" {
		return []part{part{text: "latency", end: end}.cannot(noLatency)}
	}
	if samples.UsableAs(c.table, column, table.Number) == nil || slices.Contains(naming, column) {
		return nil
	}
	return []part{{score: 1, text: fmt.Sprintf("%s %s its %s", column, sideWords[op], of.text), lazy: of.side(column, op), axes: []string{column}, end: end}}
}

var sideWords = map[query.Op]string{"": "from", query.Ge: "from", query.Gt: "above", query.Lt: "below", query.Le: "up to"}

// side compares the values of a column with the statistic.
func (o order) side(column string, op query.Op) clause {
	switch {
	case o.p == 0:
		return func(n numbers) (string, error) {
			mean, err := n.mean(column)
			return query.Compare{Column: column, Op: op, Value: query.NumberValue(mean)}.String(), err
		}
	case op == "" || op == query.Ge:
		return beyond(column, o.p)
	}
	return compared(column, op, o.p)
}
