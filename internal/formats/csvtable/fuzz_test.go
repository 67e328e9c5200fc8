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
	f.Add("# isobath {\"tableSchema\":{\"columns\":[{\"titles\":\"time\",\"isobath:kind\":\"time\",\"isobath:base\":\"9\"}]}}\ncpu,time\n3,40\n")
	f.Add("# To display the perf.data header info\n# Overhead,Samples, Local Weight\n 60.00% , 3 ,40 \n      |\n      ---main\n\n#\n# (Tip)\n")
	f.Fuzz(func(t *testing.T, text string) {
		if report := perfReport([]byte(text)); report != nil {
			text = string(report)
		}
		said, _ := description(&foreign.Input{Path: t.TempDir()}, []byte(text))
		out, err := parse(context.Background(), []byte(text), said, &foreign.Options{Salvage: true})
		if err == nil && out.Tables[0].Rows() > strings.Count(text, "\n")+1 && !strings.Contains(strings.ToLower(text), "samples") { // which lays rows out
			t.Fatalf("%d rows from %d lines", out.Tables[0].Rows(), strings.Count(text, "\n")+1)
		}
	})
}
