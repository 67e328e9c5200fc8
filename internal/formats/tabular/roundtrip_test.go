package tabular_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/formats/arrowfile"
	"github.com/isobath/isobath/internal/formats/csvtable"
	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/formats/parquetfile"
)

func samples(t *testing.T) *table.Table {
	t.Helper()
	valid := table.FullBits(4)
	valid.Clear(2)
	latency := table.Ints("latency", "cycles", table.Modelled, []int64{4, 12, 0, 400}, valid)
	latency.Note = "modelled"
	tab, err := table.New("samples", []*table.Column{
		table.Times("time", "ns", table.Measured, []uint64{1 << 60, 1<<60 + 1<<33, 1<<60 + 9, 1<<60 + 12}, nil),
		table.Ints("cpu", "", table.Measured, []int64{0, 1, 2, 3}, nil),
		latency,
		table.Categories("level", table.Modelled, []uint32{0, 1, 0, 1}, []string{"L1", "Local RAM"}, valid),
		table.Addresses("addr", table.Measured, []uint64{0, ^uint64(0), 1 << 63, 5}, nil),
		table.Flags("remote", table.Derived, []uint8{0, 1, 0, 1}, valid),
		table.Floats("temperature", "K", table.Measured, []float64{0.5, -1, 2, 1e300}, nil),
		table.Categories("phase, \"inner\"", table.Measured, []uint32{0, 1, 0, 1}, []string{"a, b", "say \"x\""}, nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func reread(t *testing.T, f foreign.Format, name string, body []byte) *table.Table {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, body, 0o644); err != nil {
		t.Fatal(err)
	}
	in, err := foreign.Look(path)
	if err != nil {
		t.Fatal(err)
	}
	if !f.Sniff(in) {
		t.Fatalf("%s does not recognise its own file", f.Name)
	}
	out, err := f.Samples(context.Background(), in, &foreign.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return out.Tables[0]
}

func TestOwnFilesComeBackWhole(t *testing.T) {
	tab := samples(t)
	var parquet, arrow bytes.Buffer
	if err := tab.WriteParquet(&parquet, nil); err != nil {
		t.Fatal(err)
	}
	if err := tab.WriteArrow(&arrow); err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]*table.Table{
		"parquet": reread(t, parquetfile.Format, "s.parquet", parquet.Bytes()),
		"arrow":   reread(t, arrowfile.Format, "s.arrow", arrow.Bytes()),
	} {
		if diff := cmp.Diff(tab.Columns(), got.Columns(), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// A CSV alone keeps values and kinds, and nothing says where they come from.
func TestCSVKeepsValues(t *testing.T) {
	tab := samples(t)
	var b bytes.Buffer
	if err := tab.WriteCSV(&b, nil); err != nil {
		t.Fatal(err)
	}
	got := reread(t, csvtable.Format, "s.csv", b.Bytes())
	for i, want := range tab.Columns() {
		c := got.Columns()[i]
		if c.Name != want.Name || c.Kind != want.Kind {
			t.Errorf("column %d is %s (%v), want %s (%v)", i, c.Name, c.Kind, want.Name, want.Kind)
		}
		if c.Provenance != table.Unknown {
			t.Errorf("%s is %v, want unknown", c.Name, c.Provenance)
		}
		sameTexts(t, c, want)
	}
}

func sameTexts(t *testing.T, got, want *table.Column) {
	t.Helper()
	for row := range want.Len() {
		if got.Text(row) != want.Text(row) {
			t.Errorf("%s row %d: %q, want %q", want.Name, row, got.Text(row), want.Text(row))
		}
	}
}

// A CSV with its description comes back with units, origins, labels and the
// start of time, whichever way it is described, packed or not.
func TestDescribedCSVComesBackWhole(t *testing.T) {
	tab := described(t)
	var body bytes.Buffer
	some := table.FullBits(tab.Rows())
	some.Clear(0) // what is left does not start at 0
	if err := tab.WriteCSV(&body, some); err != nil {
		t.Fatal(err)
	}
	want := tab.Take([]int{1, 2, 3})
	about, err := tab.DescribeCSV("s.csv")
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(body.Bytes())
	z.Close()
	for name, files := range map[string]map[string][]byte{
		"comment": {"s.csv": append(table.CommentOfCSV(about), body.Bytes()...)},
		"sidecar": {"s.csv": body.Bytes(), "s.csv-metadata.json": about},
		"packed":  {"s.csv.gz": packed.Bytes(), "s.csv-metadata.json": about},
	} {
		t.Run(name, func(t *testing.T) {
			got := importFiles(t, files)
			for i, w := range want.Columns() {
				c := got.Columns()[i]
				head := func(c *table.Column) string {
					return fmt.Sprintf("%s %v unit %q %v label %q note %q base %d %T", c.Name, c.Kind, c.Unit, c.Provenance, c.Label, c.Note, c.Base, c.Data)
				}
				if head(c) != head(w) {
					t.Errorf("got  %s\nwant %s", head(c), head(w))
				}
				sameTexts(t, c, w)
			}
		})
	}
}

// described is samples with columns that only a description brings back.
func described(t *testing.T) *table.Table {
	t.Helper()
	columns := slices.Clone(samples(t).Columns())
	time := *columns[0]
	time.Unit = "ticks"
	columns[0] = &time
	whole := table.Floats("whole", "", table.Derived, []float64{1, 2, 3, 4}, nil)
	whole.Label = "whole numbers"
	columns = append(columns, whole,
		table.Categories("name", table.Measured, []uint32{0, 1, 0, 1}, []string{"17", "0x3"}, nil),
		table.Ints("nothing", "bytes", table.Absent, []int64{0, 0, 0, 0}, table.NewBits(4)))
	tab, err := table.New("samples", columns)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// importFiles writes files into one folder and imports the first that is no
// description.
func importFiles(t *testing.T, files map[string][]byte) *table.Table {
	t.Helper()
	folder, file := t.TempDir(), ""
	for name, body := range files {
		if err := os.WriteFile(filepath.Join(folder, name), body, 0o644); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(name, ".json") {
			file = filepath.Join(folder, name)
		}
	}
	found, err := foreign.List{csvtable.Format}.Identify(file)
	if err != nil {
		t.Fatal(err)
	}
	out, err := found.Samples(context.Background(), &foreign.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Warnings) > 0 {
		t.Errorf("warnings %q", out.Warnings)
	}
	return out.Tables[0]
}

// What contradicts the values, or cannot be read, is said and not believed.
func TestDescriptionsThatDoNotFit(t *testing.T) {
	const line = "# isobath {\"tableSchema\":{\"columns\":[%s]}}\ncpu,latency\n3,40.5\n"
	for about, want := range map[string]string{
		`{"titles":"latency","isobath:kind":"address","isobath:provenance":"measured"}`: "described as address",
		`{"titles":"latency","isobath:kind":"colour"}`:                                  `kind "colour"`,
		`{"titles":"latency","isobath:kind":"number","isobath:provenance":"sure"}`:      `provenance "sure"`,
		`{"titles":`: "cannot be used",
	} {
		out, err := importText(t, fmt.Sprintf(line, about), nil)
		if err != nil {
			t.Fatal(err)
		}
		c := out.Tables[0].Column("latency")
		if w := strings.Join(out.Warnings, "\n"); !strings.Contains(w, want) || c.Provenance != table.Unknown || c.Text(0) != "40.5" {
			t.Errorf("%s: warnings %q, want %q; latency %s %v", about, w, want, c.Text(0), c.Provenance)
		}
	}
}

func TestForeignTables(t *testing.T) {
	tests := []struct {
		name, text string
		m          map[string]string
		want       string // an error, or cpu and latency of the first row
	}{
		{"tabs", "cpu\tlatency\n3\t40\n", nil, "3 40"},
		{"semicolons and comments", "# made by x\ncpu;latency;\"note\"\n3;40;hi\n", nil, "3 40"},
		{"mapped", "core,cost\n3,40\n", map[string]string{"cpu": "core", "latency": "cost"}, "3 40"},
		{"unmapped", "core,cost\n3,40\n", nil, "--map"},
		{"wrong map", "core,cost\n3,40\n", map[string]string{"cpu": "kernel"}, `no column "kernel"`},
		{"wrong kind", "cpu,latency\nfast,40\n", nil, "should be a number"},
		{"same name twice", "cpu,cpu\n1,2\n", nil, "two columns"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.csv")
			if err := os.WriteFile(path, []byte(tt.text), 0o644); err != nil {
				t.Fatal(err)
			}
			in, err := foreign.Look(path)
			if err != nil {
				t.Fatal(err)
			}
			out, err := csvtable.Format.Samples(context.Background(), in, &foreign.Options{Map: tt.m})
			if err != nil {
				if !strings.Contains(err.Error(), tt.want) {
					t.Errorf("error %v, want %q", err, tt.want)
				}
				return
			}
			tab := out.Tables[0]
			if got := tab.Column("cpu").Text(0) + " " + tab.Column("latency").Text(0); got != tt.want {
				t.Errorf("cpu and latency %q, want %q", got, tt.want)
			}
		})
	}
}
