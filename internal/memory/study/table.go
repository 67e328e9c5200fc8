package study

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/data/run"
)

// Row is one run of a study.
type Row struct {
	Name string `json:"name"`
	Path string `json:"path"`
	// Parameters are texts or numbers; Metrics are numbers, nil where not known.
	Parameters map[string]any      `json:"parameters"`
	Metrics    map[string]*float64 `json:"metrics"`
	Odd        []string            `json:"odd"` // metrics in which the run stands apart

	// Manifest is what the run says about itself; nil for rows of a table alone.
	Manifest *run.Manifest `json:"-"`
	keys     map[string]map[string]any
}

// Bounds of a table of parameters that a user gives.
const (
	maxRows    = 100_000
	maxColumns = 1000
)

// Given is a table of parameters: a line a run, whose first column is its name.
type Given struct {
	Columns []string
	Rows    map[string]map[string]string
	Order   []string // of names
}

// ReadParameters reads a CSV file whose first line names its columns.
func ReadParameters(r io.Reader) (*Given, error) {
	c := csv.NewReader(r)
	c.ReuseRecord = true
	c.TrimLeadingSpace = true
	head, err := c.Read()
	if err != nil {
		return nil, fmt.Errorf("the first line must name the columns: %w", err)
	}
	if len(head) < 2 || len(head) > maxColumns {
		return nil, fmt.Errorf("%d columns; want the name of the run and at least one parameter", len(head))
	}
	g := &Given{Columns: slices.Clone(head[1:]), Rows: map[string]map[string]string{}}
	for {
		record, err := c.Read()
		if errors.Is(err, io.EOF) {
			return g, nil
		}
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(record[0], run.Suffix)
		if _, seen := g.Rows[name]; seen {
			return nil, fmt.Errorf("two lines about the run %q", name)
		}
		if len(g.Order) == maxRows {
			return nil, fmt.Errorf("more than %d runs", maxRows)
		}
		row := map[string]string{}
		for i, column := range g.Columns {
			row[column] = strings.Clone(record[i+1])
		}
		g.Rows[name] = row
		g.Order = append(g.Order, name)
	}
}

// Typed is a number where a text is one.
func Typed(text string) any {
	if f, err := strconv.ParseFloat(text, 64); err == nil && f-f == 0 {
		return f
	}
	return text
}

// Pattern takes a parameter from names and commands: the first group of a regular
// expression, or all that it matches.
type Pattern struct {
	Name string
	Re   *regexp.Regexp
}

func (p *Pattern) find(r *Row) (any, bool) {
	texts := []string{r.Name}
	if r.Manifest != nil {
		texts = append(texts, strings.Join(r.Manifest.Origin.Command, " "))
	}
	for _, t := range texts {
		if m := p.Re.FindStringSubmatch(t); m != nil {
			return Typed(m[len(m)-1]), true
		}
	}
	return nil, false
}

// SetParameters gives runs their parameters: those given, those of patterns, and
// what differs between their commands, environments and machines.
func SetParameters(rows []*Row, given *Given, patterns []Pattern) {
	for _, r := range rows {
		r.Parameters = map[string]any{}
		if given != nil {
			for column, text := range given.Rows[r.Name] {
				if text != "" {
					r.Parameters[column] = Typed(text)
				}
			}
		}
		for i := range patterns {
			if v, ok := patterns[i].find(r); ok {
				r.Parameters[patterns[i].Name] = v
			}
		}
	}
	addDiffering(rows, func(r *Row) map[string]string {
		out := map[string]string{"host": r.Manifest.Origin.Host, "time": r.Manifest.Origin.Time}
		for i, word := range r.Manifest.Origin.Command {
			if _, err := strconv.ParseFloat(word, 64); err == nil && i > 0 {
				out[wordPrefix+strconv.Itoa(i)] = word
			}
		}
		if d := r.Manifest.Recording; d != nil {
			for name, value := range d.Environment {
				out[name] = value
			}
			if len(d.Modules) > 0 {
				out["build"] = d.Modules[0].BuildID
			}
		}
		return out
	})
}

// wordPrefix begins the names of words of a command that are numbers.
const wordPrefix = "arg"

// addDiffering adds what is not the same in all runs; words of a command only where
// no parameter has their values already.
func addDiffering(rows []*Row, of func(*Row) map[string]string) {
	seen := map[string][]string{}
	all := make([]map[string]string, len(rows))
	for i, r := range rows {
		if r.Manifest == nil {
			return
		}
		all[i] = of(r)
		for name, value := range all[i] {
			if !slices.Contains(seen[name], value) {
				seen[name] = append(seen[name], value)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		if len(seen[name]) < 2 {
			continue
		}
		if strings.HasPrefix(name, wordPrefix) && saidAlready(rows, func(i int) string { return all[i][name] }) {
			continue
		}
		for i, r := range rows {
			if _, given := r.Parameters[name]; !given && all[i][name] != "" {
				r.Parameters[name] = Typed(all[i][name])
			}
		}
	}
}

// saidAlready reports that a parameter has these values in all runs.
func saidAlready(rows []*Row, value func(i int) string) bool {
	for name := range rows[0].Parameters {
		same := true
		for i, r := range rows {
			same = same && r.Parameters[name] == Typed(value(i))
		}
		if same {
			return true
		}
	}
	return false
}
