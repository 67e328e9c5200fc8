package mesh

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

// Sets of cells in a selection. A brush over a plot and a pick in a viewer take
// any cells, which no range of columns describes; they become rows stored under
// a name that lists them, `rows "cells 3 5-9"`, so that a link holds all of it.
// Cells of an adaptive mesh are those of one dump: `rows "cells@60 3 5-9"`.
const setPrefix = "cells"

// maxSetText bounds the text of a set: a link must hold it.
const maxSetText = 64 << 10

// CellSet is a set of cells of one dump.
type CellSet struct {
	Cells     []int32 // rising
	Iteration int64   // of the dump, if Dated
	Dated     bool
}

// Name writes a set as the name of stored rows.
func (s CellSet) Name() (string, error) {
	var b strings.Builder
	b.WriteString(setPrefix)
	if s.Dated {
		b.WriteString("@" + strconv.FormatInt(s.Iteration, 10))
	}
	for i := 0; i < len(s.Cells); {
		j := i + 1
		for j < len(s.Cells) && s.Cells[j] == s.Cells[j-1]+1 {
			j++
		}
		b.WriteByte(' ')
		b.WriteString(strconv.Itoa(int(s.Cells[i])))
		if j > i+1 {
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(int(s.Cells[j-1])))
		}
		if i = j; b.Len() > maxSetText {
			return "", fmt.Errorf("%d cells are too scattered for one selection; take fewer", len(s.Cells))
		}
	}
	return b.String(), nil
}

// IsCellSet reports whether a name of stored rows is that of a set of cells.
func IsCellSet(name string) bool {
	rest, ok := strings.CutPrefix(name, setPrefix)
	return ok && (rest == "" || rest[0] == ' ' || rest[0] == '@')
}

// ParseCellSet reads a name that CellSet wrote, of a mesh with so many cells.
func ParseCellSet(name string, cells int) (CellSet, error) {
	var s CellSet
	if !IsCellSet(name) || len(name) > 2*maxSetText {
		return s, fmt.Errorf("%q is no set of cells; want e.g. cells 3 5-9", name[:min(len(name), 40)])
	}
	words := strings.Fields(name[len(setPrefix):])
	if len(words) > 0 && strings.HasPrefix(words[0], "@") {
		n, err := strconv.ParseInt(words[0][1:], 10, 64)
		if err != nil {
			return s, fmt.Errorf("cells%s: the dump's iteration is no whole number", words[0])
		}
		s.Iteration, s.Dated, words = n, true, words[1:]
	}
	for _, w := range words {
		from, to, ranged := strings.Cut(w, "-")
		lo, err := strconv.Atoi(from)
		hi := lo
		if err == nil && ranged {
			hi, err = strconv.Atoi(to)
		}
		if err != nil || lo < 0 || hi < lo || hi >= cells {
			return s, fmt.Errorf("cells %q: the mesh has cells 0 to %d", w, cells-1)
		}
		if n := len(s.Cells); n > 0 && int(s.Cells[n-1]) >= lo {
			return s, fmt.Errorf("cells %q: want rising numbers", w)
		}
		for c := lo; c <= hi; c++ {
			s.Cells = append(s.Cells, int32(c))
		}
	}
	return s, nil
}

// Select is the selection of the samples on cells of a dump.
func (v *View) Select(ctx context.Context, step int, cells []int32) (query.Expr, error) {
	p, err := v.At(ctx, step)
	if err != nil {
		return nil, err
	}
	cells = slices.Clone(cells)
	slices.Sort(cells)
	s := CellSet{Cells: slices.Compact(cells)}
	// The boxes of an adaptive mesh change with time, and so do the numbers of its
	// cells; positions lie in other cells when the mesh moves.
	if p.Space.AMR || v.positions != nil {
		s.Iteration, s.Dated = v.Series.Steps[step].Iteration, true
	}
	name, err := s.Name()
	return query.RowSet{Name: name}, err
}

// RowsOfSet returns the rows that a set of cells names.
func (v *View) RowsOfSet(ctx context.Context, name string) (table.Bits, error) {
	step := len(v.Series.Steps) - 1
	if IsCellSet(name) && strings.HasPrefix(name, setPrefix+"@") {
		s, err := ParseCellSet(name[:strings.IndexByte(name+" ", ' ')], 0)
		if err != nil {
			return nil, err
		}
		step = slices.IndexFunc(v.Series.Steps, func(st Step) bool { return st.Iteration == s.Iteration })
		if step < 0 {
			return nil, fmt.Errorf("the mesh has no dump of iteration %d", s.Iteration)
		}
	}
	p, err := v.At(ctx, step)
	if err != nil {
		return nil, err
	}
	s, err := ParseCellSet(name, p.Cells)
	if err != nil {
		return nil, err
	}
	return p.RowsOn(ctx, s.Cells)
}

// CellSets calls visit with every set of cells that an expression names.
func CellSets(e query.Expr, visit func(name string) error) error {
	switch e := e.(type) {
	case query.RowSet:
		if IsCellSet(e.Name) {
			return visit(e.Name)
		}
	case query.And:
		return eachTerm(e.Terms, visit)
	case query.Or:
		return eachTerm(e.Terms, visit)
	case query.Not:
		return CellSets(e.Term, visit)
	}
	return nil
}

func eachTerm(terms []query.Expr, visit func(string) error) error {
	for _, t := range terms {
		if err := CellSets(t, visit); err != nil {
			return err
		}
	}
	return nil
}
