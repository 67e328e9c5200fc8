package mesh

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/formats/exodus"
)

// A parallel code writes its Exodus file in parts, one a process: can.exo.4.0 to
// can.exo.4.3. They are pieces of one mesh at the same times, not dumps after one another.

var partName = regexp.MustCompile(`^(.+\.)(\d+)\.(\d+)$`)

// partOf takes the name of a part apart: what all parts share, how many there are, and
// which this one is.
func partOf(path string) (set string, parts, part int, ok bool) {
	m := partName.FindStringSubmatch(path)
	if m == nil {
		return "", 0, 0, false
	}
	parts, err := strconv.Atoi(m[2])
	if err != nil {
		return "", 0, 0, false
	}
	part, err = strconv.Atoi(m[3])
	return m[1] + m[2], parts, part, err == nil && part < parts && parts > 1
}

// filesOfSet are the files among some that belong to the set of the first, in the order of
// the parts, and the others.
func filesOfSet(files []string) (parts, others []string) {
	set, _, _, ok := partOf(files[0])
	if found, err := identify(files[0]); !ok || err != nil || found.Format.Name != exodus.Format.Name {
		return files[:1], files[1:]
	}
	for _, f := range files {
		if s, _, _, ok := partOf(f); ok && s == set {
			parts = append(parts, f)
		} else {
			others = append(others, f)
		}
	}
	slices.SortFunc(parts, func(a, b string) int {
		_, _, i, _ := partOf(a)
		_, _, k, _ := partOf(b)
		return i - k
	})
	return slices.Compact(parts), others
}

// stepsOfParts lists the steps of one file, or of the parts of one.
func stepsOfParts(files []string) ([]Step, string, error) {
	steps, format, err := stepsOf(files[0])
	_, want, _, spread := partOf(files[0])
	if err != nil || !spread || format != exodus.Format.Name {
		return steps, format, err
	}
	all := [][]Step{steps}
	for _, f := range files[1:] {
		more, _, err := stepsOf(f)
		if err != nil {
			return nil, "", err
		}
		if !slices.EqualFunc(steps, more, func(a, b Step) bool { return a.Time == b.Time && a.HasTime == b.HasTime }) {
			return nil, "", fmt.Errorf("%s and %s are parts of one mesh with other times: %d and %d", filepath.Base(files[0]), filepath.Base(f), len(steps), len(more))
		}
		all = append(all, more)
	}
	out := slices.Clone(steps)
	for i := range out {
		out[i].Files = files
		out[i].load = func(ctx context.Context) (*grid.Mesh, error) { return loadParts(ctx, all, i, want) }
	}
	return out, format, nil
}

// loadParts reads one step of all parts as the blocks of one mesh.
func loadParts(ctx context.Context, parts [][]Step, step, want int) (*grid.Mesh, error) {
	var m *grid.Mesh
	for _, steps := range parts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		part, err := steps[step].load(ctx)
		if err != nil {
			return nil, err
		}
		_, _, number, _ := partOf(steps[step].Files[0])
		for i := range part.Blocks {
			part.Blocks[i].Name = fmt.Sprintf("part %d %s", number, part.Blocks[i].Name)
		}
		if m == nil {
			m = part
			continue
		}
		m.Blocks = append(m.Blocks, part.Blocks...)
		m.Warnings = append(m.Warnings, part.Warnings...)
	}
	if len(parts) < want {
		m.Warnings = append(m.Warnings, fmt.Sprintf("%d of %d parts of the mesh are shown: name all of them, as %s.*", len(parts), want, filepath.Base(setName(parts))))
	}
	return m, nil
}

func setName(parts [][]Step) string {
	set, _, _, _ := partOf(parts[0][0].Files[0])
	return set
}
