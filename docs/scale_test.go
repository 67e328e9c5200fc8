package docs

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// measured finds a number of scale.md by the words around it.
func measured(t *testing.T, text, words string) float64 {
	t.Helper()
	m := regexp.MustCompile(words).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("scale.md has nothing like %s", words)
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// amount reads what a cell says: 38 million, 3.6 TB, 640, 9.6 s.
func amount(t *testing.T, cell string) float64 {
	t.Helper()
	number, unit, _ := strings.Cut(strings.TrimSpace(cell), " ")
	v, err := strconv.ParseFloat(strings.ReplaceAll(number, ",", ""), 64)
	if err != nil {
		t.Fatalf("%q: %v", cell, err)
	}
	factor, ok := map[string]float64{"": 1, "s": 1, "million": 1e6, "thousand million": 1e9, "GB": 1e9, "TB": 1e12}[unit]
	if !ok {
		t.Fatalf("%q has a unit that is not known", cell)
	}
	return v * factor
}

// TestScale works out anew what scale.md says of 10, 1,000 and 10,000 nodes, from what
// it says was measured.
func TestScale(t *testing.T) {
	file, err := os.ReadFile("scale.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(file)
	in := measured(t, text, `(?m)^\| rows that come in, two shards together \| ([\d,]+) a second`) / 2
	seen := 10e6 / measured(t, text, `(?m)^\| one screen of the page over 10 M rows.* \| ([\d.]+) s \|`) / 2
	bytes := measured(t, text, `(?m)^\| bytes of a sample.* \| ([\d]+) on a shard`)
	rows := 0
	for _, row := range regexp.MustCompile(`(?m)^\| (10|1,000|10,000) \|.*$`).FindAllString(text, -1) {
		cells := strings.Split(strings.Trim(row, "|"), "|")
		if len(cells) != 7 {
			t.Fatalf("%d cells in %s", len(cells), row)
		}
		rows++
		const cpus, rate, seconds = 64, 100, 600
		rateOfAll := amount(t, cells[0]) * cpus * rate
		all := rateOfAll * seconds
		keepUp := math.Ceil(rateOfAll / in)
		for i, want := range []float64{rateOfAll, all, all * bytes, keepUp, all / (keepUp * seen), all / seen / 1.5} {
			if got := amount(t, cells[i+1]); math.Abs(got-want) > 0.03*want && math.Abs(got-math.Ceil(want)) > 0.5 {
				t.Errorf("%s nodes: %s, want %g", strings.TrimSpace(cells[0]), strings.TrimSpace(cells[i+1]), want)
			}
		}
	}
	if rows != 3 {
		t.Errorf("%d rows, want those of 10, 1,000 and 10,000 nodes", rows)
	}
}
