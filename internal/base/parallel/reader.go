package parallel

import (
	"context"
	"io"
)

// Reader reads from r until the context ends, also while r has nothing to say: a
// read of a pipe whose writer waits cannot be ended. The last read of r may then
// still be under way.
func Reader(ctx context.Context, r io.Reader) io.Reader {
	return &reader{ctx: ctx, from: r, room: make([]byte, 256<<10)}
}

type reader struct {
	ctx  context.Context
	from io.Reader
	room []byte // belongs to the task while one reads
	left []byte // of it
	err  error
}

func (r *reader) Read(p []byte) (int, error) {
	for len(r.left) == 0 && r.err == nil {
		n := 0
		task := Start(r.ctx, func(context.Context) (err error) {
			n, err = r.from.Read(r.room)
			return err
		})
		select {
		case <-r.ctx.Done():
			r.err = r.ctx.Err()
		case <-task.Done():
			r.err = task.Wait()
			r.left = r.room[:n]
		}
	}
	if len(r.left) == 0 {
		return 0, r.err
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}
