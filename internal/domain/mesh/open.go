// Package mesh puts performance samples on the cells of a simulation's own
// mesh: it opens dumps and time series, finds the cell of each sample,
// aggregates samples per cell, relates the result to the simulation's
// variables, and extracts the surfaces a page draws.
package mesh

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/base/term"
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
	// LeftOut are mesh files of the folder that was opened which are no dumps of
	// this series.
	LeftOut []string

	kept *budget.Share // dumps that were read, by step
	turn patientLock   // one dump is read at a time
}

// newSeries returns a series without steps. What it keeps is given back when
// nobody uses it any more: several runs may show one series.
func newSeries(ctx context.Context) *Series {
	s := &Series{kept: budget.Of(ctx).NewShare()}
	runtime.AddCleanup(s, (*budget.Share).Close, s.kept)
	return s
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

	load func(context.Context) (*grid.Mesh, error)
}

// Open opens dumps: one file that may itself hold or list several steps, or
// several files that make a series, in the order of their iterations. A path
// may be a pattern such as dump_*.vtk, or a folder of dumps.
func Open(ctx context.Context, paths ...string) (*Series, error) {
	files, leftOut, err := expand(paths)
	if err != nil {
		return nil, err
	}
	s := newSeries(ctx)
	s.LeftOut = leftOut
	for left := files; len(left) > 0; {
		var parts []string
		parts, left = filesOfSet(left)
		steps, format, err := stepsOfParts(parts)
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
	if err := s.stamp(ctx); err != nil {
		return nil, err
	}
	return s, s.oneSeries(files)
}

func seriesName(file string) string {
	stem, _, _ := strings.Cut(filepath.Base(file), ".")
	if t := strings.TrimRight(strings.TrimRight(stem, "0123456789"), "_-c"); t != "" {
		return t
	}
	return stem
}

// Notes are sentences about what was opened.
func (s *Series) Notes() []string {
	if len(s.LeftOut) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("the folder has %s besides this series, not read: %s; open one of them by its name",
		term.Counted(len(s.LeftOut), "mesh file"), foreign.Names(s.LeftOut, 6))}
}

// expand resolves patterns and folders; leftOut are mesh files of folders that are
// of another series.
func expand(paths []string) (files, leftOut []string, err error) {
	for _, p := range paths {
		info, err := os.Stat(p)
		switch {
		case err == nil && info.IsDir():
			inside, others, err := dumpsIn(p)
			if err != nil {
				return nil, nil, err
			}
			files, leftOut = append(files, inside...), append(leftOut, others...)
		case err == nil:
			files = append(files, p)
		case strings.ContainsAny(p, "*?["):
			found, err := filepath.Glob(p)
			if err != nil {
				return nil, nil, fmt.Errorf("pattern %q: %w", p, err)
			}
			if len(found) == 0 {
				return nil, nil, fmt.Errorf("no file matches %q", p)
			}
			files = append(files, found...)
		default:
			return nil, nil, fmt.Errorf("open mesh: %w", err)
		}
	}
	return files, leftOut, nil
}

// dumpsIn lists the first collection of a folder, or else the mesh files whose
// names differ in a number only: the largest such set, and the names of the others.
func dumpsIn(dir string) (files, others []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, err
	}
	sets := map[[2]string][]string{}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if !IsMesh(path) {
			continue
		}
		if ext := filepath.Ext(path); ext == ".pvd" || ext == ".series" {
			return []string{path}, nil, nil
		}
		before, _, after := cutNumber(path)
		key := [2]string{before, after}
		if set, _, _, ok := partOf(path); ok {
			key = [2]string{set, ""}
		}
		sets[key] = append(sets[key], path)
	}
	if len(sets) == 0 {
		return nil, nil, fmt.Errorf("%s holds no mesh file that is known", dir)
	}
	names := slices.SortedFunc(maps.Keys(sets), func(a, b [2]string) int {
		return cmp.Or(len(sets[b])-len(sets[a]), strings.Compare(a[0]+a[1], b[0]+b[1]))
	})
	for _, name := range names[1:] {
		for _, path := range sets[name] {
			others = append(others, filepath.Base(path))
		}
	}
	slices.Sort(others)
	return sets[names[0]], others, nil
}

// FolderOfDumps says of which format the dumps of a folder are; false for a file
// and for a folder without any.
func FolderOfDumps(path string) (format string, ok bool) {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return "", false
	}
	files, _, err := dumpsIn(path)
	if err != nil {
		return "", false
	}
	found, err := identify(files[0])
	if err != nil {
		return "", false
	}
	return found.Format.Name, true
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
func (s *Series) stamp(ctx context.Context) error {
	inFile := false
	for i := range s.Steps {
		st := &s.Steps[i]
		if i == 0 || inFile {
			m, err := st.read(ctx)
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
				s.kept.Keep(0, m.Bytes(), m)
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

// digits returns the last number of a file name before its first dot that
// stands at the end or before a separator: 60 of lulesh_c60.vtk and of
// dump-60-rho.vtk, none of big5m.vti.
func digits(path string) (int64, bool) {
	_, number, _ := cutNumber(path)
	n, err := strconv.ParseInt(number, 10, 64)
	return n, err == nil
}

// cutNumber takes a file name apart around its number, which is empty if there
// is none.
func cutNumber(path string) (before, number, after string) {
	stem, ending, _ := strings.Cut(filepath.Base(path), ".")
	for end := len(stem); end > 0; end-- {
		if !isDigit(stem[end-1]) || end < len(stem) && !strings.ContainsRune("_-", rune(stem[end])) {
			continue
		}
		start := end
		for start > 0 && isDigit(stem[start-1]) {
			start--
		}
		return stem[:start], stem[start:end], stem[end:] + "." + ending
	}
	return stem, "", "." + ending
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// oneSeries refuses files whose names differ in more than a number and that do
// not say their iteration themselves: a sequence of unrelated meshes would be
// shown as time.
func (s *Series) oneSeries(files []string) error {
	for i, st := range s.Steps {
		if st.From == "file" || st.HasTime {
			continue
		}
		before, _, after := cutNumber(files[0])
		for _, f := range files[1:] {
			if b, _, a := cutNumber(f); b != before || a != after {
				return fmt.Errorf("%s and %s are no dumps of one series: their names differ in more than a number, and step %d says neither its iteration nor its time; open one of them",
					filepath.Base(files[0]), filepath.Base(f), i)
			}
		}
		return nil
	}
	return nil
}

// Mesh reads the mesh of a step, from memory if it was read a moment ago.
func (s *Series) Mesh(ctx context.Context, step int) (*grid.Mesh, error) {
	if step < 0 || step >= len(s.Steps) {
		return nil, fmt.Errorf("mesh %s has %d dumps; dump %d does not exist", s.Name, len(s.Steps), step)
	}
	if err := s.turn.lock(ctx); err != nil {
		return nil, err
	}
	defer s.turn.unlock()
	if m, ok := s.kept.Recall(step); ok {
		return m.(*grid.Mesh), nil
	}
	m, err := s.Steps[step].read(ctx)
	if err != nil {
		return nil, err
	}
	s.kept.Keep(step, m.Bytes(), m)
	return m, nil
}

// read reads a dump. Its files are read whole, and what they hold is about as
// large again; what it takes in the end is then known.
func (st *Step) read(ctx context.Context) (*grid.Mesh, error) {
	var size int64
	for _, f := range st.Files {
		if info, err := os.Stat(f); err == nil {
			size += info.Size()
		}
	}
	claim, err := budget.Take(ctx, filepath.Base(st.Files[0])+" needs", 2*size)
	if err != nil {
		return nil, err
	}
	defer claim.Release()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m, err := st.load(ctx)
	if err != nil {
		return nil, err
	}
	if note := ghostNote(m); note != "" {
		m.Warnings = append(m.Warnings, note)
	}
	return m, claim.Resize(m.Bytes())
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
