// Package mesh puts performance samples on the cells of a simulation's own
// mesh: it opens dumps and time series, finds the cell of each sample,
// aggregates samples per cell, relates the result to the simulation's
// variables, and extracts the surfaces a page draws.
package mesh

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/formats"
	"github.com/isobath/isobath/internal/formats/foreign"
)

// Series is a mesh over time: one dump per step, read when it is asked for.
type Series struct {
	Name   string
	Format string
	Steps  []Step

	mu    sync.Mutex
	cache map[int]*grid.Mesh
	order []int // steps in the cache, oldest first
}

// Step is one dump.
type Step struct {
	Files []string
	// Iteration is the loop count samples are compared with; From says where
	// it comes from: "file", "name" (digits of the file name) or "ordinal".
	Iteration int64
	From      string
	Time      float64 // simulated time; never an iteration
	HasTime   bool

	load func() (*grid.Mesh, error)
}

// cacheSteps is how many dumps stay in memory: the one shown and its
// neighbours on the time slider.
const cacheSteps = 3

// Open opens dumps: one file that may itself hold or list several steps, or
// several files that make a series, in the order of their iterations. A path
// may be a pattern such as dump_*.vtk, or a folder of dumps.
func Open(paths ...string) (*Series, error) {
	files, err := expand(paths)
	if err != nil {
		return nil, err
	}
	s := &Series{cache: map[int]*grid.Mesh{}}
	for _, f := range files {
		steps, format, err := stepsOf(f)
		if err != nil {
			return nil, err
		}
		s.Steps = append(s.Steps, steps...)
		s.Format = format
	}
	if len(s.Steps) == 0 {
		return nil, errors.New("no mesh dumps given")
	}
	s.Name = seriesName(files[0])
	return s, s.stamp()
}

func seriesName(file string) string {
	stem, _, _ := strings.Cut(filepath.Base(file), ".")
	if t := strings.TrimRight(strings.TrimRight(stem, "0123456789"), "_-c"); t != "" {
		return t
	}
	return stem
}

// expand resolves patterns and folders.
func expand(paths []string) ([]string, error) {
	var files []string
	for _, p := range paths {
		info, err := os.Stat(p)
		switch {
		case err == nil && info.IsDir():
			inside, err := dumpsIn(p)
			if err != nil {
				return nil, err
			}
			files = append(files, inside...)
		case err == nil:
			files = append(files, p)
		case strings.ContainsAny(p, "*?["):
			found, err := filepath.Glob(p)
			if err != nil {
				return nil, fmt.Errorf("pattern %q: %w", p, err)
			}
			if len(found) == 0 {
				return nil, fmt.Errorf("no file matches %q", p)
			}
			files = append(files, found...)
		default:
			return nil, fmt.Errorf("open mesh: %w", err)
		}
	}
	return files, nil
}

// dumpsIn lists the mesh files of a folder that share the extension of the
// first collection found, or else of the first mesh file.
func dumpsIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	byExt := map[string][]string{}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if IsMesh(path) {
			byExt[filepath.Ext(path)] = append(byExt[filepath.Ext(path)], path)
		}
	}
	for _, ext := range []string{".pvd", ".series"} {
		if list := byExt[ext]; len(list) > 0 {
			return list[:1], nil
		}
	}
	if len(byExt) == 0 {
		return nil, fmt.Errorf("%s holds no mesh file that is known", dir)
	}
	exts := []string{}
	for ext := range byExt {
		exts = append(exts, ext)
	}
	slices.SortFunc(exts, func(a, b string) int {
		return cmp.Or(len(byExt[b])-len(byExt[a]), strings.Compare(a, b))
	})
	return byExt[exts[0]], nil
}

// identify recognises a file among the mesh formats.
func identify(path string) (*foreign.Found, error) { return formats.Known.Of(kind.Mesh).Identify(path) }

// IsMesh reports whether a file is one of a mesh.
func IsMesh(path string) bool {
	found, err := identify(path)
	return err == nil && !found.Input.Dir()
}

// stepsOf lists the steps in one file without reading the meshes.
func stepsOf(path string) ([]Step, string, error) {
	found, err := identify(path)
	if err != nil {
		return nil, "", err
	}
	dumps, err := found.Mesh()
	steps := make([]Step, len(dumps))
	for i, d := range dumps {
		steps[i] = Step{Files: d.Files, Time: d.Time, HasTime: d.HasTime, load: d.Load}
	}
	return steps, found.Format.Name, err
}

// stamp finds the iteration of every step and sorts by it. Files are read for
// their cycle only if the first one has it: codes write it always or never.
func (s *Series) stamp() error {
	inFile := false
	for i := range s.Steps {
		st := &s.Steps[i]
		if i == 0 || inFile {
			m, err := st.load()
			if err != nil {
				return err
			}
			if m.HasCycle {
				inFile = true
				st.Iteration, st.From = m.Cycle, "file"
			}
			if m.HasTime && !st.HasTime {
				st.Time, st.HasTime = m.Time, true
			}
			if len(s.Steps) == 1 {
				s.cache[0], s.order = m, []int{0}
			}
		}
	}
	s.fromNames()
	if len(s.Steps) > 1 {
		slices.SortStableFunc(s.Steps, func(a, b Step) int { return cmp.Compare(a.Iteration, b.Iteration) })
	}
	return nil
}

// fromNames fills iterations that no file has: from the digits of the file
// names if all differ, else by counting.
func (s *Series) fromNames() {
	seen := map[int64]bool{}
	names := true
	numbers := make([]int64, len(s.Steps))
	for i := range s.Steps {
		n, ok := digits(s.Steps[i].Files[0])
		names = names && ok && !seen[n]
		seen[n], numbers[i] = true, n
	}
	for i := range s.Steps {
		if st := &s.Steps[i]; st.From == "" {
			st.Iteration, st.From = int64(i), "ordinal"
			if names {
				st.Iteration, st.From = numbers[i], "name"
			}
		}
	}
}

// digits returns the last number in a file name before its first dot.
func digits(path string) (int64, bool) {
	stem, _, _ := strings.Cut(filepath.Base(path), ".")
	end := strings.LastIndexAny(stem, "0123456789") + 1
	start := end
	for start > 0 && stem[start-1] >= '0' && stem[start-1] <= '9' {
		start--
	}
	n, err := strconv.ParseInt(stem[start:end], 10, 64)
	return n, err == nil
}

// Mesh reads the mesh of a step, from memory if it was read a moment ago.
func (s *Series) Mesh(step int) (*grid.Mesh, error) {
	if step < 0 || step >= len(s.Steps) {
		return nil, fmt.Errorf("mesh %s has %d dumps; dump %d does not exist", s.Name, len(s.Steps), step)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.cache[step]; m != nil {
		return m, nil
	}
	m, err := s.Steps[step].load()
	if err != nil {
		return nil, err
	}
	if len(s.order) >= cacheSteps {
		delete(s.cache, s.order[0])
		s.order = s.order[1:]
	}
	s.cache[step] = m
	s.order = append(s.order, step)
	return m, nil
}

// knowsIterations reports whether the dumps say which iteration they are of.
func (s *Series) knowsIterations() bool {
	return slices.ContainsFunc(s.Steps, func(st Step) bool { return st.From != "ordinal" })
}

// At returns the step to show at an iteration: the last dump at or before it,
// else the first. exact is false when the dump is of another iteration.
func (s *Series) At(iteration int64) (step int, exact bool) {
	step = len(s.Steps) - 1
	for step > 0 && s.Steps[step].Iteration > iteration {
		step--
	}
	return step, s.Steps[step].Iteration == iteration
}

// Previous returns the iteration of the dump before the given iteration;
// ok is false when it is the first.
func (s *Series) Previous(iteration int64) (prev int64, ok bool) {
	for i := range s.Steps {
		if it := s.Steps[i].Iteration; it < iteration && (!ok || it > prev) {
			prev, ok = it, true
		}
	}
	return prev, ok
}
