package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
)

// TestReportOfWaiting: samples of threads that wait are said before the groups, and
// the selection that is named leaves out just these.
func TestReportOfWaiting(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	path := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(path, []byte("addr,symbol,waiting\n1,u,\n2,u,\n3,v,OpenMP\n4,v,MPI\n5,v,\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	const said = "2 (40.0 %) are of threads that wait; --where 'waiting = none' leaves them out"
	if got := string(outputOf(t, "report", path, "--by", "symbol")); !strings.Contains(got, said) {
		t.Errorf("%s\nwant %q in it", got, said)
	}
	rest := string(outputOf(t, "report", path, "--by", "symbol", "--where", "waiting = none"))
	if !strings.HasPrefix(rest, "3 of 5 samples") || strings.Contains(rest, "that wait") {
		t.Error(rest)
	}
}
