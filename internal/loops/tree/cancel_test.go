package tree_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/loops/tree"
)

// turning is a loop of four instructions, with as many references as are left.
type turning struct{ left int }

func (r *turning) About() *refs.About { return &refs.About{Has: refs.HasPC} }
func (r *turning) Close() error       { return nil }

func (r *turning) Read(dst []refs.Ref) (int, error) {
	n := min(len(dst), r.left)
	for i := range n {
		r.left--
		dst[i] = refs.Ref{PC: 4096 + 8*uint64(r.left%4), Addr: 64 * uint64(r.left), Size: 8}
	}
	if r.left == 0 {
		return n, io.EOF
	}
	return n, nil
}

// A long trace tells how far it is in every stage, and each can be cancelled.
func TestBuildIsCancelled(t *testing.T) {
	for _, stop := range []string{"instructions", "blocks", "passes", "references", ""} {
		t.Run("while "+stop, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			last := map[string]uint64{}
			after := 0
			got, err := tree.Build(ctx, tree.Input{
				Open: func() (refs.Reader, error) { return &turning{left: 3 << 18}, nil },
				Progress: func(stage string, done uint64) {
					if done <= last[stage] {
						t.Errorf("%d %s after %d", done, stage, last[stage])
					}
					last[stage] = done
					if ctx.Err() != nil {
						after++
					}
					if stage == stop {
						cancel()
					}
				},
			})
			switch {
			case stop != "" && (!errors.Is(err, context.Canceled) || after > 0):
				t.Errorf("error = %v, told %d times after it was cancelled", err, after)
			case stop == "" && (err != nil || got.References != 3<<18 || len(last) != 4):
				t.Errorf("error = %v, %d stages were told", err, len(last))
			}
		})
	}
}
