package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/isobath/isobath/bench/synth"
	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/engine/clickhouse/clickhousetest"
)

// TestStoredAnswers asks the same of a run of many hosts in a folder and on two
// shards. Every answer is the same text but for what the run is called.
func TestStoredAnswers(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	servers := clickhousetest.Start(t, 2)
	dir := t.TempDir()
	hosts := 48
	if text := os.Getenv("ISOBATH_STORED_HOSTS"); text != "" { // make bench has 256
		var err error
		if hosts, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	paths, err := synth.WriteHosts(t.Context(), dir, hosts, 400)
	if err != nil {
		t.Fatal(err)
	}
	local := filepath.Join(dir, "all.isobath")
	outputOf(t, slices.Concat([]string{"import", "-o", local}, paths)...)
	outputOf(t, "import", local, "--engine", servers[0].Address(""))
	stored := servers[0].Address("all")
	odd := slices.IndexFunc(paths, func(p string) bool { return strings.Contains(p, synth.OddHosts[0]) })
	for _, args := range [][]string{
		{"info"},
		{"report", "--by", "host"},
		{"report", "--by", "host,level", "--where", "latency > 200"},
		{"report", "--by", "line", "--where", fmt.Sprintf("at Host:%d", odd)},
		{"report", "--by", "symbol", "--top", "5"},
		{"report", "--by", "symbol", "--spread", "--where", "latency > 20"},
		{"topology"},
		{"topology", "--where", "level = L3"},
		{"metrics"},
		{"metrics", "--axis", "latency", "--metric", "dram", "--windows", "13", "--where", "cpu < 9"},
		{"metrics", "--metric", "imbalance", "--depth", "L3", "--equal-count", "--windows", "17"},
		{"metrics", "--axis", "cpu", "--metric", "mean", "--equal-count"},
		{"clusters"},
		{"clusters", "--axis", "latency", "--metric", "cpus", "--cut", "6", "--where", "level = L3 | latency > 200"},
		{"insights"},
		{"insights", "--where", "level = L3 | latency > 200"},
		{"search", ""},
		{"search", "slowest host"},
		{"search", "latency 100-200"},
		{"diff", paths[odd]},
		{"diff", paths[odd], "--by", "function"},
		{"diff", paths[odd], "--by", "symbol", "--where", "latency > 100"},
	} {
		t.Run(strings.Join(args[:min(len(args), 3)], " "), func(t *testing.T) {
			ask := func(run string) []byte {
				all := slices.Concat(args[:1], []string{run}, args[1:], []string{"--json"})
				return bytes.ReplaceAll(outputOf(t, all...), []byte(run), []byte("RUN"))
			}
			want, got := ask(local), ask(stored)
			if !bytes.Equal(want, got) {
				at := 0
				for at < min(len(want), len(got)) && want[at] == got[at] {
					at++
				}
				from := max(0, at-300)
				t.Errorf("at byte %d of %d and %d:\nlocal  …%s\nstored …%s", at, len(want), len(got), want[from:min(len(want), at+200)], got[from:min(len(got), at+200)])
			}
		})
	}
	for _, where := range []string{"", "level = L3 & latency > 300"} {
		var rows [2][]byte
		for i, run := range []string{local, stored} {
			file := filepath.Join(t.TempDir(), "rows.csv")
			outputOf(t, "export", run, "--where", where, "-o", file)
			var err error
			if rows[i], err = os.ReadFile(file); err != nil {
				t.Fatal(err)
			}
			rows[i] = bytes.ReplaceAll(rows[i], []byte(run), []byte("RUN"))
		}
		if !bytes.Equal(rows[0], rows[1]) || len(rows[0]) == 0 {
			t.Errorf("export --where %q: %d bytes of the folder, %d of ClickHouse differ", where, len(rows[0]), len(rows[1]))
		}
	}
}
