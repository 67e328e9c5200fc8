package tabular_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
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

// CSV has no place for units and provenance, but values and kinds come back.
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
		for row := range tab.Rows() {
			if c.Text(row) != want.Text(row) {
				t.Errorf("%s row %d: %q, want %q", c.Name, row, c.Text(row), want.Text(row))
			}
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
