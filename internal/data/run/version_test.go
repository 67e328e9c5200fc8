package run

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
)

// Runs of every version that was ever written are read. testdata holds one of
// each, written by a program of that version ('isobath import s.csv -o
// version1.isobath --topology hardware.xml --objects objects.txt').
func TestEveryVersionIsRead(t *testing.T) {
	for version := 1; version <= Version; version++ {
		r, err := Open(filepath.Join("testdata", fmt.Sprintf("version%d.isobath", version)))
		if err != nil {
			t.Fatalf("version %d: %v", version, err)
		}
		defer r.Close()
		tab := r.Table(samples.Table)
		if tab == nil || tab.Rows() != 3 {
			t.Fatalf("version %d has no samples", version)
		}
		latency := tab.Column(samples.Latency)
		if latency.Unit != samples.Cycles || latency.Provenance != table.Measured || latency.Text(1) != "30" || latency.Has(2) {
			t.Errorf("version %d: latency %+v", version, latency)
		}
		if c := tab.Column(samples.Time); c.Base != 1000 || c.Text(2) != "2000" {
			t.Errorf("version %d: time from %d, %s", version, c.Base, c.Text(2))
		}
		if got := tab.Column(samples.Level).Text(1) + tab.Column(samples.Addr).Text(1) + tab.Column(samples.Node).Text(1); got != "L20x180" {
			t.Errorf("version %d: row 1 has %q", version, got)
		}
		if text, err := r.Source("heat.c"); err != nil || !strings.HasPrefix(string(text), "int main") {
			t.Errorf("version %d: source %q, %v", version, text, err)
		}
		if named, err := r.Selections(); err != nil || named["slow"] != "latency > 20" {
			t.Errorf("version %d: selections %v, %v", version, named, err)
		}
		if r.Tree == nil || r.TopologyData == nil || !strings.Contains(r.Names, "u double[8]") {
			t.Errorf("version %d: topology of %d bytes, names %q", version, len(r.Tree), r.Names)
		}
	}
}

// A run of a newer program is refused by its name and both versions.
func TestNewerVersionIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new.isobath")
	if err := os.CopyFS(path, os.DirFS("testdata/version1.isobath")); err != nil {
		t.Fatal(err)
	}
	manifest := filepath.Join(path, manifestFile)
	text, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	newer := strings.Replace(string(text), `"version": 1`, fmt.Sprintf(`"version": %d`, Version+1), 1)
	if err := os.WriteFile(manifest, []byte(newer), 0o644); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("run %s: the run has version %d and this program knows %d; use a newer isobath", path, Version+1, Version)
	if _, err := Open(path); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
