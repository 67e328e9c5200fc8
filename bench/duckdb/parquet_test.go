package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/isobath/isobath/bench/synth"
	"github.com/isobath/isobath/internal/data/table"
)

// TestParquetInDuckDB reads a Parquet file of ours with a reader that shares no
// code with its writer, and compares every column: count of values, number of
// different ones, least and greatest.
func TestParquetInDuckDB(t *testing.T) {
	ours := synth.Samples(20_000)
	path := filepath.Join(t.TempDir(), "samples.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := ours.WriteParquet(f, nil); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, c := range ours.Columns() {
		want := describe(c)
		q := fmt.Sprintf(`SELECT count(%[1]s), count(DISTINCT %[1]s), min(%[1]s)::VARCHAR, max(%[1]s)::VARCHAR FROM read_parquet('%[2]s')`, `"`+c.Name+`"`, path)
		var got summary
		if err := db.QueryRowContext(context.Background(), q).Scan(&got.values, &got.distinct, &got.least, &got.greatest); err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		if c.Kind == table.Category || c.Kind == table.Flag {
			got.least, got.greatest, want.least, want.greatest = "", "", "", ""
		}
		if got != want {
			t.Errorf("%s: DuckDB reads %+v, we wrote %+v", c.Name, got, want)
		}
	}
}

type summary struct {
	values, distinct int
	least, greatest  string
}

func describe(c *table.Column) summary {
	var s summary
	seen := map[string]bool{}
	low, high := -1, -1
	for i := range c.Len() {
		if !c.Has(i) {
			continue
		}
		s.values++
		seen[c.Text(i)] = true
		if low < 0 || less(c, i, low) {
			low = i
		}
		if high < 0 || less(c, high, i) {
			high = i
		}
	}
	s.distinct = len(seen)
	if low >= 0 {
		s.least, s.greatest = plain(c, low), plain(c, high)
	}
	return s
}

func less(c *table.Column, i, j int) bool {
	if d, ok := c.Data.([]uint64); ok {
		return d[i] < d[j]
	}
	return c.Float(i) < c.Float(j)
}

// plain writes a value as DuckDB casts it to text.
func plain(c *table.Column, i int) string {
	switch d := c.Data.(type) {
	case []uint64:
		return fmt.Sprint(d[i])
	case []float64:
		return fmt.Sprint(d[i])
	}
	return c.Text(i)
}
