package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/domain/mesh"
)

// meshInfo is what `info` prints for a mesh, and `mesh` without samples.
type meshInfo struct {
	common
	*mesh.Info
}

func (i *meshInfo) fields() any { return i }

func describeMesh(ctx context.Context, paths ...string) (description, error) {
	i, err := mesh.Describe(ctx, paths...)
	if err != nil {
		return nil, err
	}
	return &meshInfo{newCommon(kind.Mesh, i.FormatName, i.Cells, i.Notes), i}, nil
}

func (i *meshInfo) write(w io.Writer) error {
	style := term.StyleFor(w)
	fmt.Fprintf(w, "mesh (%s): %s, %s", i.Format, style.Bold(term.Counted(i.Cells, "cell")), term.Counted(i.Points, "point"))
	if i.Levels > 1 {
		fmt.Fprintf(w, ", %s", term.Counted(i.Levels, "level"))
	}
	if i.Domains > 1 {
		fmt.Fprintf(w, ", %s", term.Counted(i.Domains, "domain"))
	}
	if i.Dims != nil {
		fmt.Fprintf(w, ", %d x %d x %d", i.Dims[0], i.Dims[1], i.Dims[2])
	}
	fmt.Fprintf(w, "\nx from %s to %s, y from %s to %s, z from %s to %s", short(i.Low[0]), short(i.High[0]), short(i.Low[1]), short(i.High[1]), short(i.Low[2]), short(i.High[2]))
	fmt.Fprintf(w, "\niterations, from the %s: %s\n", map[string]string{"file": "files", "name": "file names", "ordinal": "order of the dumps"}[i.From], some(i.Iterations))
	if n := len(i.Iterations); n > 1 {
		fmt.Fprintf(w, "cells, bounds and ranges are those of the last of %s, %d; viewers such as ParaView open the first\n", term.Counted(n, "dump"), i.Dump)
	}
	fmt.Fprintln(w)
	t := term.Table{Columns: []term.Column{{Head: "variable", Give: true}, {Head: "on"}, {Head: "type"}, {Head: "values", Align: term.Right},
		{Head: "min", Align: term.Right}, {Head: "max", Align: term.Right}}}
	for _, f := range i.Info.Fields {
		lo, hi := "", ""
		if f.Min != nil {
			lo, hi = short(*f.Min), short(*f.Max)
		}
		t.Row(f.Name, f.On, strings.TrimLeft(f.Type, "<|"), strconv.Itoa(f.Components), lo, hi)
	}
	if err := t.Write(w, term.Width); err != nil {
		return err
	}
	return i.notes(w)
}

// some writes a list of iterations that fits a line.
func some(list []int64) string {
	var b strings.Builder
	for k, v := range list {
		if k == 8 && len(list) > 10 {
			fmt.Fprintf(&b, ", … %d (%s)", list[len(list)-1], term.Counted(len(list), "dump"))
			break
		}
		if k > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, v)
	}
	return b.String()
}
