package synth

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
)

// WriteSizes writes the recordings of one program at several sizes of its problem, of
// so many samples each, and returns where they are: n1-000, n2-001 and so on. What
// accesses cost grows with the size. Runs of one size are one on the disk.
func WriteSizes(ctx context.Context, dir string, runs, sizes, rows int) ([]string, error) {
	var paths []string
	for i := range runs {
		n := 1 + i%sizes
		path := filepath.Join(dir, fmt.Sprintf("n%d-%03d%s", n, i, run.Suffix))
		paths = append(paths, path)
		if i >= sizes {
			if err := link(paths[i%sizes], path); err != nil {
				return nil, err
			}
			continue
		}
		s := drawn(rows, uint64(n))
		s.slowDown(float64(n))
		t := s.table()
		few, err := table.New(t.Name, slices.DeleteFunc(slices.Clone(t.Columns()), func(c *table.Column) bool {
			return !slices.Contains([]string{samples.Time, samples.Latency, samples.Function, samples.Level, samples.CPU}, c.Name)
		}))
		if err != nil {
			return nil, err
		}
		r := run.Run{
			Manifest: run.Manifest{Kind: kind.Samples, Format: "synth", Recording: &run.Recording{Samples: rows, Seconds: float64(n), User: float64(n)}},
			Contents: []*table.Table{few},
		}
		if err := r.Write(ctx, path, true); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

// link makes a folder whose files are those of another.
func link(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(from, path)
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return os.Mkdir(filepath.Join(to, inside), 0o755)
		}
		return os.Link(path, filepath.Join(to, inside))
	})
}
