package parallel

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"
)

// TestReader: what is read is what there is, however it comes, with its error.
func TestReader(t *testing.T) {
	want := make([]byte, 700<<10)
	rng := rand.NewChaCha8([32]byte{1})
	rng.Read(want)
	failed := errors.New("the disk is gone")
	for name, r := range map[string]io.Reader{
		"whole": bytes.NewReader(want), "halves": iotest.HalfReader(bytes.NewReader(want)), "end with data": iotest.DataErrReader(bytes.NewReader(want)),
	} {
		if got, err := io.ReadAll(Reader(t.Context(), r)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes of %d, %v", name, len(got), len(want), err)
		}
	}
	got, err := io.ReadAll(Reader(t.Context(), io.MultiReader(bytes.NewReader(want[:10]), iotest.ErrReader(failed))))
	if !errors.Is(err, failed) || !bytes.Equal(got, want[:10]) {
		t.Errorf("%d bytes before an error, %v", len(got), err)
	}
}

// TestReaderEndsWithContext: a writer that waits holds nobody up.
func TestReaderEndsWithContext(t *testing.T) {
	in, out := io.Pipe()
	defer out.Close()
	ctx, stop := context.WithCancel(t.Context())
	r := Reader(ctx, in)
	first := Start(t.Context(), func(context.Context) error {
		_, err := out.Write([]byte("head"))
		stop()
		return err
	})
	got, err := io.ReadAll(r)
	if !errors.Is(err, context.Canceled) || string(got) != "head" && len(got) != 0 {
		t.Errorf("%q, %v", got, err)
	}
	in.Close()
	if err := first.Wait(); err != nil && !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
}
