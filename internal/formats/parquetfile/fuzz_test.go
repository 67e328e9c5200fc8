package parquetfile

import (
	"bytes"
	"context"
	"testing"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/formats/foreign"
)

func FuzzParse(f *testing.F) {
	tab, err := table.New("samples", []*table.Column{
		table.Ints("cpu", "", table.Measured, []int64{0, 1, 2}, nil),
		table.Categories("level", table.Measured, []uint32{0, 1, 0}, []string{"L1", "L2"}, nil),
	})
	if err != nil {
		f.Fatal(err)
	}
	var b bytes.Buffer
	if err := tab.WriteParquet(&b, nil); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, in []byte) {
		out, err := parse(context.Background(), bytes.NewReader(in), int64(len(in)), &foreign.Options{})
		if err == nil && out.Tables[0].Rows() > freeValues+len(in)*mostPacked {
			t.Fatalf("%d rows from %d bytes", out.Tables[0].Rows(), len(in))
		}
	})
}
