// Package sides finds the runs of the two sides of a comparison and makes them
// ready for it.
package sides

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/memory/compare"
)

// Expand replaces folders that hold runs by those runs.
func Expand(paths []string) ([]string, error) {
	var out []string
	for _, p := range paths {
		inside, err := runsIn(p)
		if err != nil {
			return nil, err
		}
		if len(inside) == 0 {
			inside = []string{p}
		}
		out = append(out, inside...)
	}
	return out, nil
}

// runsIn lists the runs directly inside a folder; none for anything else.
func runsIn(folder string) ([]string, error) {
	info, err := os.Stat(folder)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() || run.IsRun(folder) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if p := filepath.Join(folder, e.Name()); strings.HasSuffix(e.Name(), run.Suffix) && run.IsRun(p) {
			out = append(out, p)
		}
	}
	return out, nil
}

// Trial lists the runs of both sides of a recorded trial, pair by pair. A pair
// that lacks one of its runs is left out.
func Trial(folder string) (a, b []string, err error) {
	runs, err := runsIn(folder)
	if err != nil {
		return nil, nil, err
	}
	type pair struct {
		number int
		id     string
		sides  [2]string
	}
	var pairs []*pair
	for _, path := range runs {
		m, err := run.ReadManifest(path)
		if err != nil {
			return nil, nil, err
		}
		if m.Recording == nil || m.Recording.Trial == nil {
			continue
		}
		t := m.Recording.Trial
		i := slices.IndexFunc(pairs, func(p *pair) bool { return p.number == t.Pair && p.id == t.ID })
		if i < 0 {
			pairs, i = append(pairs, &pair{number: t.Pair, id: t.ID}), len(pairs)
		}
		switch t.Side {
		case "a":
			pairs[i].sides[0] = path
		case "b":
			pairs[i].sides[1] = path
		}
	}
	pairs = slices.DeleteFunc(pairs, func(p *pair) bool { return p.sides[0] == "" || p.sides[1] == "" })
	if len(pairs) == 0 {
		return nil, nil, fmt.Errorf("%s holds no pairs of runs; 'isobath ab --record DIR -- A -- B' makes them, and two runs are compared by 'isobath diff A B'", folder)
	}
	slices.SortFunc(pairs, func(x, y *pair) int { return cmp.Or(cmp.Compare(x.id, y.id), cmp.Compare(x.number, y.number)) })
	for _, p := range pairs {
		a, b = append(a, p.sides[0]), append(b, p.sides[1])
	}
	return a, b, nil
}

// Run is a data set as one run of a side.
func Run(name string, s *dataset.Set, where query.Expr) compare.Run {
	texts := map[string][]string{}
	return compare.Run{
		Name: name, Manifest: &s.Run.Manifest, Table: s.Table, Engine: s.Engine, Where: where, Topology: s.Topology,
		Text: func(file string) []string {
			text, read := texts[file]
			if !read {
				text = lines(s.Run, file)
				texts[file] = text
			}
			return text
		},
	}
}

// lines reads a source file; nil if it cannot be: lines are then compared by
// number, and the comparison says so.
func lines(r *run.Run, file string) []string {
	text, err := r.Source(file)
	if err != nil || bytes.IndexByte(text, 0) >= 0 {
		return nil
	}
	return strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n")
}
