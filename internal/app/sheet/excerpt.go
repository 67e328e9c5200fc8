package sheet

import (
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/engine/query"
)

// excerpts shows the costliest lines in their surroundings, where the run has
// their sources. Neighbouring lines share one excerpt.
func (s *Sheet) excerpts(set *dataset.Set, rows []query.GroupRow, latency bool, whole float64) {
	costs := map[string]map[int]float64{}
	for i := range rows {
		file, line := place(&rows[i])
		if line == 0 {
			continue
		}
		if costs[file] == nil {
			costs[file] = map[int]float64{}
		}
		costs[file][line] = cost(&rows[i], latency)
	}
	shown := map[string][]int{}
	for i := range rows {
		file, line := place(&rows[i])
		if len(s.Excerpts) == excerpts {
			return
		}
		if line == 0 || near(shown[file], line) {
			continue
		}
		text, err := set.Run.Source(file)
		if err != nil {
			continue // the ranking names the line; there is no text to show
		}
		if e, ok := excerpt(string(text), line, costs[file], whole); ok {
			e.Place, e.Share = label(rows[i].Keys), term.Percent(costs[file][line]/whole)
			s.Excerpts = append(s.Excerpts, e)
			shown[file] = append(shown[file], line)
		}
	}
}

// place is the file and line of a group; 0 if the line is not known.
func place(row *query.GroupRow) (file string, line int) {
	line, err := strconv.Atoi(row.Keys[1])
	if err != nil || row.Keys[0] == "" {
		return "", 0
	}
	return row.Keys[0], line
}

func near(shown []int, line int) bool {
	for _, other := range shown {
		if other-around <= line && line <= other+around {
			return true
		}
	}
	return false
}

// excerpt cuts the lines around one out of a source. A source that has become
// shorter than the line gives none.
func excerpt(text string, line int, costs map[int]float64, whole float64) (Excerpt, bool) {
	lines := strings.Split(text, "\n")
	if line < 1 || line > len(lines) {
		return Excerpt{}, false
	}
	var e Excerpt
	for n := max(1, line-around); n <= min(len(lines), line+around); n++ {
		l := Line{Number: n, Text: strings.TrimRight(lines[n-1], "\r"), Hottest: n == line}
		if c := costs[n]; c > 0 && whole > 0 {
			l.Share, l.Heat = term.Percent(c/whole), c/costs[line]
		}
		e.Lines = append(e.Lines, l)
	}
	return e, true
}
