package vtk

import (
	"context"
	"fmt"
	"strings"

	"github.com/isobath/isobath/internal/data/grid"
)

// dumps lists the steps of a time collection, or the one of any other file.
func dumps(path string) ([]grid.Dump, error) {
	list, ok, err := Steps(path)
	if err != nil {
		return nil, err
	}
	if !ok {
		return grid.OneDump(Read)(path)
	}
	out := make([]grid.Dump, len(list))
	for i, l := range list {
		out[i] = grid.Dump{Files: l.Files, Time: l.Time, HasTime: l.HasTime, Load: func(ctx context.Context) (*grid.Mesh, error) {
			return readParts(ctx, l.Files)
		}}
	}
	return out, nil
}

// readParts reads the parts of one step as blocks of one mesh.
func readParts(ctx context.Context, files []string) (*grid.Mesh, error) {
	if len(files) == 1 {
		return Read(files[0])
	}
	m := &grid.Mesh{}
	for i, f := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		part, err := Read(f)
		if err != nil {
			return nil, err
		}
		for _, b := range part.Blocks {
			b.Name = strings.Trim(fmt.Sprintf("part %d %s", i, b.Name), " ")
			m.Blocks = append(m.Blocks, b)
		}
		m.Warnings = append(m.Warnings, part.Warnings...)
	}
	m.Stamp()
	return m, nil
}
