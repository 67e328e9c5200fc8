package tabular

import (
	"fmt"
	"math"
	"regexp"
	"slices"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
)

var (
	// countsSamples are folded names of columns that say for how many samples a
	// row stands.
	countsSamples = []string{"samples", "#samples", "samplecount", "numberofsamples", "nsamples"}
	meanOf        = regexp.MustCompile(`^(average|avg|mean)`)
	// ofMany are folded names that only a row of many accesses can have.
	ofMany = regexp.MustCompile(`^((average|avg|mean).*|loads|stores|llcmisscount.*|(load|store|hit|miss)count)$`)
)

// mostSamples is how many samples are laid out one by one: a line of a few bytes
// may stand for all of them.
const mostSamples = 1 << 20

// layOut lays rows that stand for several samples out as so many, where a
// column says how many. Where it cannot, it says that rows are sums; a weight
// that the user named is then what they sum.
func layOut(t *table.Table, sources map[string]source) (*table.Table, []string, error) {
	var counts, many *table.Column
	for _, c := range t.Columns() {
		folded := foldName(c.Name)
		_, canonical := samples.Lookup(c.Name)
		switch {
		case canonical || c.Provenance != table.Unknown:
		case slices.Contains(countsSamples, folded) && c.Kind == table.Number:
			counts = c
		case ofMany.MatchString(folded):
			many = c
		}
	}
	if counts != nil && (many == nil || !isMean(many)) {
		if index, ok := repeated(counts); ok {
			return expanded(t, counts, index)
		}
		many = counts
	}
	if many == nil {
		return t, nil, nil
	}
	if w := t.Column(samples.Weight); w != nil && sources[samples.Weight].file != samples.Weight && w.Kind == table.Number {
		w.Note = samples.SumOf(sources[samples.Weight].file)
		return t, []string{fmt.Sprintf("each row is a sum of many samples, as column %q says: %q is its cost, in column %s", many.Name, sources[samples.Weight].file, samples.Weight)}, nil
	}
	return t, []string{fmt.Sprintf("each row counts as one sample, and column %q says that it stands for many: counts and shares are those of rows; name the column that has their cost with --map %s=NAME, or import samples", many.Name, samples.Weight)}, nil
}

func isMean(c *table.Column) bool {
	folded := foldName(c.Name)
	return meanOf.MatchString(folded)
}

// repeated lists the row of every sample; false where the counts are none.
func repeated(counts *table.Column) ([]int, bool) {
	var index []int
	for i := range counts.Len() {
		n := counts.Float(i)
		if !counts.Has(i) || n < 1 || n != math.Trunc(n) || float64(len(index))+n > mostSamples {
			return nil, false
		}
		for range int(n) {
			index = append(index, i)
		}
	}
	return index, true
}

// expanded returns the table with a row for each sample and without the column
// that counted them, whose sum would be wrong.
func expanded(t *table.Table, counts *table.Column, index []int) (*table.Table, []string, error) {
	columns := slices.DeleteFunc(slices.Clone(t.Columns()), func(c *table.Column) bool { return c == counts })
	if len(columns) == 0 || len(index) == counts.Len() {
		return t, nil, nil
	}
	without, err := table.New(t.Name, columns)
	if err != nil {
		return nil, nil, err
	}
	return without.Take(index), []string{fmt.Sprintf("%s for %s, as column %q counts them, laid out as so many", term.Counted(counts.Len(), "row"), term.Counted(len(index), "sample"), counts.Name)}, nil
}
