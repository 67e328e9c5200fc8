package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// fourThreads writes samples of four CPUs with everything that verbs tell of.
func fourThreads(t *testing.T, path string) {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 5))
	var b strings.Builder
	b.WriteString("time,cpu,tid,latency,level,addr,op,file,line,function,symbol,index\n")
	for i := range 900 {
		cpu, line := i%4, 10+r.IntN(6)
		level, latency := "L1", 40+r.IntN(5)
		if line == 13 {
			level, latency = "Local RAM", 800+r.IntN(400)
		}
		if i/300 == 1 {
			latency *= 3
		}
		fmt.Fprintf(&b, "%d,%d,%d,%d,%s,0x%x,load,a.c,%d,work,u,%d\n", 1000*i, cpu, 70+cpu, latency, level, 0x10000+8*r.IntN(9000), line, r.IntN(9000))
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// cyclesWord is the unit, not what a finding or a menu is about; "cycles" is a verb too.
var cyclesWord = regexp.MustCompile(`(?i)\bcycles?\b`)

// A latency has the unit that its file says: no verb speaks of cycles where it is in
// nanoseconds, or where nobody knows its unit.
func TestUnitOfLatencyIsSaid(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "a.csv")
	fourThreads(t, file)
	for _, unit := range []string{"cycles", "ns", ""} {
		run := filepath.Join(folder, "run"+unit+".isobath")
		imports := []string{"import", file, "-o", run}
		if unit != "" {
			imports = append(imports, "--map", "latency=latency:"+unit)
		}
		said := map[string]string{}
		for _, args := range [][]string{
			imports, {"info", run}, {"report", run}, {"report", run, "--by", "cpu"}, {"report", run, "--by", "cacheline"}, {"report", run, "--spread"},
			{"report", run, "--format", "sarif"}, {"insights", run}, {"insights", run, "--json"}, {"search", run, "slowest line"}, {"search", run, "latency over 500"}, {"search", run, "color topology"},
			{"heatmap", run, "--value", "latency"}, {"metrics", run, "--metric", "mean"}, {"clusters", run, "--metric", "mean", "--window", "60", "--slide", "30"},
			{"diff", run, run}, {"diff", run, run, "--metric", "mean"}, {"export", run, "-o", run + ".html"}, {"export", run, "-o", run + ".speedscope.json"}, {"export", run, "-o", run + ".trace.json"},
		} {
			out, err := isobath(t, args...)
			if err != nil {
				t.Fatalf("isobath %s: %v", strings.Join(args, " "), err)
			}
			if args[0] == "export" {
				written, err := os.ReadFile(args[3])
				if err != nil {
					t.Fatal(err)
				}
				out += string(written)
			}
			said[strings.Join(args, " ")] = out
		}
		all := 0
		for verb, out := range said {
			found := cyclesWord.FindAllStringIndex(out, -1)
			all += len(found)
			if unit != "cycles" && len(found) > 0 {
				at := found[0][0]
				t.Errorf("latency in %q: isobath %s says %q", unit, verb, out[max(0, at-60):min(len(out), at+30)])
			}
		}
		if unit == "cycles" && all < 10 {
			t.Errorf("latency in cycles: it is said %d times", all)
		}
		if report := said["report "+run]; unit == "" && !regexp.MustCompile(`(?m)^ *share .*\blatency +mean`).MatchString(report) {
			t.Errorf("latency of unknown unit: no column says latency:\n%s", report)
		}
	}
}
