package budget

import (
	"context"
	"io"
)

// TakeFor claims what temporary files in a folder will have: nothing, with a nil
// claim, where they lie on a disk. Temporary folders often lie in memory.
func TakeFor(ctx context.Context, dir, what string) (*Claim, error) {
	if !inMemory(dir) {
		return nil, nil
	}
	return Take(ctx, what, 0)
}

// Reader reads from r what is then written, and claims it before. A nil claim
// lets everything pass.
func (c *Claim) Reader(r io.Reader) io.Reader {
	if c == nil {
		return r
	}
	return &claiming{r, c}
}

type claiming struct {
	from  io.Reader
	claim *Claim
}

func (c *claiming) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	if n > 0 {
		if short := c.claim.Grow(int64(n)); short != nil {
			return 0, short
		}
	}
	return n, err
}
