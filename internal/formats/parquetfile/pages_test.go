package parquetfile

import (
	"bytes"
	"context"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	parquetzstd "github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/isobath/isobath/internal/formats/foreign"
)

// streaming packs a page as a stream whose length is not known at its start: its
// window is larger than the page.
type streaming struct {
	parquetzstd.Codec
}

func (*streaming) Encode(dst, src []byte) ([]byte, error) {
	out := bytes.NewBuffer(dst[:0])
	z, err := zstd.NewWriter(out, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(src[:len(src)/2]); err != nil {
		return nil, err
	}
	if err := z.Flush(); err != nil {
		return nil, err
	}
	if _, err := z.Write(src[len(src)/2:]); err != nil {
		return nil, err
	}
	err = z.Close()
	return out.Bytes(), err
}

func TestPagesOfAStream(t *testing.T) {
	type sample struct {
		CPU int64 `parquet:"cpu"`
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[sample](&b, parquet.Compression(&streaming{}))
	for i := range 1000 {
		if _, err := w.Write([]sample{{int64(i * i)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	frame := bytes.Index(b.Bytes(), []byte{0x28, 0xb5, 0x2f, 0xfd})
	var h zstd.Header
	if err := h.Decode(b.Bytes()[frame:]); err != nil || h.WindowSize <= 1<<20 {
		t.Fatalf("a window of %d bytes, error %v, want more than a page has", h.WindowSize, err)
	}
	out, err := parse(context.Background(), bytes.NewReader(b.Bytes()), int64(b.Len()), &foreign.Options{})
	if err != nil || out.Tables[0].Rows() != 1000 {
		t.Errorf("a page that was packed as a stream: %v", err)
	}
}
