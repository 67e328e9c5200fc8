package command

// Costs of the thesis (section 3.5.3): what is typed so far is more likely to
// be continued than to be wrong.
const (
	insertion    = 0.3
	deletion     = 1.0
	substitution = 1.0
)

// similarity compares an input with a phrase, both folded: one minus the
// weighted Levenshtein distance divided by the length of the phrase. scratch is
// reused between calls.
func similarity(input, phrase string, scratch *[]float32) float64 {
	if phrase == "" {
		return 0
	}
	n := len(phrase) + 1
	if cap(*scratch) < n {
		*scratch = make([]float32, 2*n)
	}
	row := (*scratch)[:n]
	for j := range row {
		row[j] = insertion * float32(j)
	}
	for i := range len(input) {
		diagonal := row[0]
		row[0] += deletion
		for j := 1; j < n; j++ {
			best := diagonal
			if input[i] != phrase[j-1] {
				best = min(diagonal+substitution, row[j]+deletion, row[j-1]+insertion)
			}
			diagonal, row[j] = row[j], best
		}
	}
	return max(0, 1-float64(row[n-1])/float64(len(phrase)))
}

// edits returns the number of insertions, deletions, substitutions and
// transpositions of neighbours between a and the whole of b, and between a and
// the prefix of b nearest to it. Both are at most most+1.
func edits(a, b string, most int) (whole, prefix int) {
	if len(a) > 32 || len(b) > 64 || len(a)-len(b) > most {
		return most + 1, most + 1
	}
	var rows [3][66]int
	before, last, row := &rows[0], &rows[1], &rows[2]
	n := len(b)
	for j := 0; j <= n; j++ {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		low := i
		for j := 1; j <= n; j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			v := min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				v = min(v, before[j-2]+1)
			}
			row[j] = v
			low = min(low, v)
		}
		if low > most {
			return most + 1, most + 1
		}
		before, last, row = last, row, before
	}
	prefix = most + 1
	for j := 0; j <= n; j++ {
		prefix = min(prefix, last[j])
	}
	return min(last[n], most+1), prefix
}
