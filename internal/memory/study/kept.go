package study

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/isobath/isobath/internal/base/plainfile"
)

// maxKept bounds a study that is read, in bytes.
const maxKept = 64 << 20

// Open reads a study that was kept as JSON. Paths of its runs are taken from where
// the file is.
func Open(path string) (*Study, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxKept {
		return nil, fmt.Errorf("%s has %d bytes; a study has at most %d", path, info.Size(), maxKept)
	}
	text, err := plainfile.ReadFile(path, maxKept)
	if err != nil {
		return nil, err
	}
	s, err := Read(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, r := range slices.Concat(s.Runs, s.Against) {
		if r.Path != "" && !filepath.IsAbs(r.Path) {
			r.Path = filepath.Join(filepath.Dir(path), r.Path)
		}
	}
	return s, nil
}

// maxFits bounds a study that is read: parameters, times metrics, times runs.
const maxFits = 1 << 20

// Read reads a study that was kept as JSON, and looks at its runs anew.
func Read(text []byte) (*Study, error) {
	var kept Study
	if err := json.Unmarshal(text, &kept); err != nil {
		return nil, fmt.Errorf("no study: %w", err)
	}
	if len(kept.Runs) == 0 || len(kept.Runs) > maxRows {
		return nil, fmt.Errorf("a study of %d runs", len(kept.Runs))
	}
	parameters := map[string]bool{}
	for i, r := range slices.Concat(kept.Runs, kept.Against) {
		if err := r.check(); err != nil {
			return nil, fmt.Errorf("run %d: %w", i, err)
		}
		for name := range r.Parameters {
			parameters[name] = true
		}
	}
	if fits := max(1, len(parameters)) * len(metricsOf(kept.Runs)) * len(kept.Runs); fits > maxFits {
		return nil, fmt.Errorf("%d runs with %d parameters and %d metrics are too many to look at", len(kept.Runs), len(parameters), len(metricsOf(kept.Runs)))
	}
	return Look(Rows(kept.Runs), Options{Parameter: kept.Parameter, Order: kept.Order, Against: kept.Against})
}

// check refuses what is no run, and forgets metrics that are no numbers.
func (r *Row) check() error {
	if r == nil {
		return errors.New("it is missing")
	}
	if len(r.Metrics)+len(r.Parameters) > maxColumns {
		return fmt.Errorf("%s has %d columns; at most %d", r.Name, len(r.Metrics)+len(r.Parameters), maxColumns)
	}
	for name, v := range r.Parameters {
		switch v.(type) {
		case float64, string:
		default:
			return fmt.Errorf("%s: parameter %s is neither a number nor a text", r.Name, name)
		}
	}
	maps.DeleteFunc(r.Metrics, func(_ string, v *float64) bool { return v == nil })
	return nil
}

// Again looks at the runs of a study along another order.
func (s *Study) Again(order string) (*Study, error) {
	return Look(Rows(s.Runs), Options{Parameter: s.Parameter, Order: order, Against: s.Against})
}

// Rows are runs as they were before anything was found in them.
func Rows(runs []*Row) []*Row {
	out := make([]*Row, len(runs))
	for i, r := range runs {
		row := *r
		row.Odd = nil
		out[i] = &row
	}
	return out
}
