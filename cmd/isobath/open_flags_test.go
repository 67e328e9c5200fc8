package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/app/server/frame"
)

// A file that is shown is read as told, with the words that its refusals recommend.
func TestOpenReadsAsTold(t *testing.T) {
	file, objects := filepath.Join(t.TempDir(), "s.csv"), filepath.Join(t.TempDir(), "objects.txt")
	if err := errors.Join(
		os.WriteFile(file, []byte("t_us,core,cost,symbol,allocation,offset\n1,3,40,heap,heat.c:57,8\n2,3,50,heap,heat.c:57,16\n3,3\n"), 0o600),
		os.WriteFile(objects, []byte("allocation at heat.c:57 is u double[8]\n"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	if _, err := isobath(t, "open", file, "--no-browser", "--port", "0"); err == nil || !strings.Contains(err.Error(), "--salvage") {
		t.Errorf("a damaged file is refused by %v", err)
	}
	ask := opened(t, file, "--map", "cpu=core", "--map", "latency=cost", "--map", "time=t_us:us", "--salvage", "--objects", objects)
	var home frame.Home
	ask("runs", &home)
	if len(home.Runs) != 1 {
		t.Fatalf("%d runs are open", len(home.Runs))
	}
	var info frame.Info
	ask("runs/"+home.Runs[0].ID, &info)
	columns := map[string]frame.ColumnInfo{}
	for _, c := range info.Columns {
		columns[c.Name] = c
	}
	for _, name := range []string{"cpu", "latency", "time", "index"} { // an index is known of u alone
		if _, ok := columns[name]; !ok {
			t.Errorf("no column %s in %v", name, info.Columns)
		}
	}
	if info.Rows != 2 || columns["time"].Max != 1000.0 {
		t.Errorf("%d rows, time to %v", info.Rows, columns["time"].Max)
	}
}
