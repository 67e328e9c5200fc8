package dataset

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/formats"
	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/record"
)

// Members puts the runs of a folder in its place: a folder that is nothing by itself
// and holds recordings, as the nodes of a cluster leave them in one that they share.
// Recordings that were never finished are members too, and message traces beside them;
// the run except is none.
func Members(paths []string, except string) ([]string, error) {
	var out []string
	for _, path := range paths {
		inside, err := runsIn(path)
		if err != nil {
			return nil, err
		}
		inside = slices.DeleteFunc(inside, func(member string) bool { return except != "" && filepath.Clean(member) == filepath.Clean(except) })
		if len(inside) == 0 {
			inside = []string{path}
		}
		out = append(out, inside...)
	}
	return out, nil
}

// runsIn are the runs of a folder, rank2 before rank10.
func runsIn(path string) ([]string, error) {
	if info, err := os.Stat(path); err != nil || !info.IsDir() || run.IsRun(path) {
		return nil, nil // whoever reads it says what is wrong
	}
	if _, ok := record.UnfinishedAt(path); ok {
		return nil, nil
	}
	// A folder with one message trace stands for that, unless there are runs beside it.
	if found, err := formats.Identify(path); !errors.Is(err, foreign.ErrUnknown) && (err != nil || found.Format.Kind != kind.Trace) {
		return nil, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var names, traces []string
	for _, e := range entries { // sorted: what was finished comes before what was not
		name := strings.TrimSuffix(e.Name(), record.Unfinished)
		if strings.HasSuffix(name, run.Suffix) && !slices.Contains(names, name) {
			names = append(names, e.Name())
		} else if filepath.Ext(name) == ".otf2" {
			traces = append(traces, e.Name())
		}
	}
	if len(names) > 0 {
		names = append(names, traces...)
	}
	slices.SortFunc(names, query.NaturalCompare)
	for i, name := range names {
		names[i] = filepath.Join(path, name)
	}
	return names, nil
}
