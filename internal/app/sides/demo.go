package sides

import (
	"context"
	"strings"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/app/demo"
	"github.com/isobath/isobath/internal/memory/compare"
)

// Demo compares the built-in example with its repaired form.
func Demo(ctx context.Context, by ...string) (*compare.Comparison, error) {
	var runs [2]compare.Run
	for i, open := range []func() (*demo.Run, error){demo.Open, demo.OpenFixed} {
		d, err := open()
		if err != nil {
			return nil, err
		}
		b, err := d.Bundle()
		if err != nil {
			return nil, err
		}
		set, err := dataset.FromRun(ctx, b)
		if err != nil {
			return nil, err
		}
		defer set.Close()
		runs[i] = Run(d.Name, set, nil)
		runs[i].Text = func(file string) []string {
			if text, ok := d.Sources[file]; ok {
				return strings.Split(string(text), "\n")
			}
			return nil
		}
	}
	return compare.Runs(ctx, runs[:1], runs[1:], compare.Options{Questions: []compare.Question{{By: by, Metric: compare.Cost}}})
}
