package sheet

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/engine/query"
)

const samplesCSV = `time,latency,level,file,line,symbol
1,10,L1,heat.c,3,u
2,30,L2,heat.c,3,u
3,160,Local RAM,heat.c,5,<script>alert(1)</script>
`

func make3(t *testing.T, where string) (*Sheet, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"s.csv": samplesCSV, "heat.c": "int main() {\n  for (;;)\n    u += 1;\n  // <b>\n  v += u;\n}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	set, err := dataset.Open(context.Background(), filepath.Join(dir, "s.csv"), dataset.Options{Sources: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	e, err := query.Parse(where, set.Table)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Make(context.Background(), set, Options{Title: "s & t", Where: e})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := s.Write(&b); err != nil {
		t.Fatal(err)
	}
	return s, b.String()
}

func TestSheet(t *testing.T) {
	s, html := make3(t, "")
	var lines *Ranking
	for i := range s.Rankings {
		if s.Rankings[i].Title == "Source lines" {
			lines = &s.Rankings[i]
		}
	}
	if lines == nil || len(lines.Rows) != 2 || lines.Rows[0] != (Row{"heat.c:5", "80.0 %", "1", "160", "160.0", 100}) || lines.Rows[1] != (Row{"heat.c:3", "20.0 %", "2", "40", "20.0", 25}) {
		t.Errorf("lines: %+v", lines)
	}
	if len(s.Levels) != 3 || s.Levels[0].Share != "33.3 %" {
		t.Errorf("levels: %+v", s.Levels)
	}
	if s.Latency.Facts[0].Value != "200" || s.Latency.Facts[2].Value != "30" || s.Latency.About != "unknown" {
		t.Errorf("latency: %+v", s.Latency)
	}
	if len(s.Excerpts) != 1 || s.Excerpts[0].Place != "heat.c:5" || len(s.Excerpts[0].Lines) != 7 {
		t.Fatalf("excerpts: %+v", s.Excerpts)
	}
	if l := s.Excerpts[0].Lines[2]; l.Number != 3 || l.Share != "20.0 %" || l.Heat != .25 || l.Text != "    u += 1;" {
		t.Errorf("the second line is in the excerpt of the first: %+v", l)
	}
	for _, want := range []string{"<h1>s &amp; t</h1>", "3 of 3 samples", "&lt;script&gt;alert(1)", "// &lt;b&gt;", "not placed on a hardware topology"} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(html, "<script") {
		t.Error("a name of the data became part of the page")
	}
}

func TestSelection(t *testing.T) {
	s, html := make3(t, "latency < 100")
	if s.Samples != "2" || s.Of != "3 samples" || !strings.Contains(html, "latency &lt; 100") {
		t.Errorf("%s of %s: %s", s.Samples, s.Of, html[:200])
	}
	if rows := s.Rankings[0].Rows; len(rows) != 1 || rows[0].Share != "100.0 %" {
		t.Errorf("%+v", rows)
	}
}

// TestWellFormed reads the page with a strict reader, empty elements apart.
func TestWellFormed(t *testing.T) {
	_, html := make3(t, "")
	d := xml.NewDecoder(strings.NewReader(html))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	depth := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		}
	}
	if depth != 0 {
		t.Errorf("%d elements stay open", depth)
	}
}
