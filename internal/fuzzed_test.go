package internal

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// fuzzedElsewhere are packages that parse and have no fuzz target of their own,
// and whose reaches them.
var fuzzedElsewhere = map[string]string{
	"formats/codesums":  "makes tables of what readers found and parses nothing",
	"formats/foreign":   "recognises formats; every reader is behind it in damagetest",
	"formats/tracecopy": "makes archives of what paraver and ctf read",
	"formats/tabular":   "gets columns from csvtable, arrowfile and parquetfile",
	"formats/xmlwalk":   "walks XML for hwloc, mitosxml, syssage and vtk",
}

// parsers are packages outside formats that read what others wrote.
var parsers = []string{
	"app/demo", "app/server", "code/access", "code/perfevent", "code/spe", "code/symbol", "code/unwind", "data/run", "data/table",
	"domain/link", "engine/query", "locality/advice", "locality/layout", "locality/platform", "machine/hw", "memory/align", "memory/command",
	"memory/study", "memory/trial", "messages/logical", "messages/whatif", "../cmd/isobath", "record", "record/heap", "record/mpitrace",
	"record/operand", "record/sampler", "record/target",
}

// Every package that reads what others wrote has a fuzz target.
func TestParsersAreFuzzed(t *testing.T) {
	entries, err := os.ReadDir("formats")
	if err != nil {
		t.Fatal(err)
	}
	all := parsers
	for _, e := range entries {
		if e.IsDir() {
			all = append(all, "formats/"+e.Name())
		}
	}
	target := regexp.MustCompile(`(?m)^func Fuzz\w+\(`)
	for _, name := range all {
		files, err := filepath.Glob(filepath.Join(filepath.FromSlash(name), "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		fuzzed := false
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			fuzzed = fuzzed || target.Match(text)
		}
		why, excused := fuzzedElsewhere[name]
		switch {
		case !fuzzed && !excused && !strings.HasSuffix(name, "test"):
			t.Errorf("%s has no fuzz target", name)
		case fuzzed && excused:
			t.Errorf("%s has a fuzz target and needs no excuse (%s)", name, why)
		}
	}
}
