package csvtable

import (
	"context"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/formats/foreign"
)

func FuzzParse(f *testing.F) {
	f.Add("cpu,latency\n3,40\n")
	f.Add("# c\ncpu;time;addr\n3;40;0xff\n\"4\";5;\n")
	f.Fuzz(func(t *testing.T, text string) {
		out, err := parse(context.Background(), []byte(text), &foreign.Options{Salvage: true})
		if err == nil && out.Tables[0].Rows() > strings.Count(text, "\n")+1 {
			t.Fatalf("%d rows from %d lines", out.Tables[0].Rows(), strings.Count(text, "\n")+1)
		}
	})
}
