package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// fixedPlural is a one beside a noun of many; "1 cycles" is a unit, as in tables.
var fixedPlural = regexp.MustCompile(`\b1 (samples|rows|columns|groups|lines|instructions|threads|objects|functions|files|windows|CPUs)\b`)

// What is said of a run of one sample is said of one.
func TestOneSample(t *testing.T) {
	run := filepath.Join(t.TempDir(), "one.csv")
	if err := os.WriteFile(run, []byte("time,cpu,tid,latency,level,addr,file,line,function,symbol\n5,0,7,40,L2,0x40,a.c,3,main,u\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	said := 0
	for _, args := range [][]string{
		{"info", run}, {"report", run}, {"report", run, "--by", "cpu"}, {"report", run, "--by", "cacheline"}, {"report", run, "--spread"}, {"insights", run},
		{"search", run, "slowest"}, {"search", run, "cpu 0"}, {"heatmap", run}, {"metrics", run, "--axis", "time", "--metric", "latency"},
		{"import", run, "-o", run + ".isobath"}, {"export", run, "-o", run + ".html"},
	} {
		out, err := isobath(t, args...)
		if err != nil {
			out += err.Error()
		}
		if args[0] == "export" {
			page, err := os.ReadFile(run + ".html")
			if err != nil {
				t.Fatal(err)
			}
			out += string(page)
		}
		for _, wrong := range fixedPlural.FindAllString(out, -1) {
			t.Errorf("isobath %s says %q", strings.Join(args[:1], " "), wrong)
		}
		said += strings.Count(out, "1 sample")
	}
	if said < 4 {
		t.Errorf("one sample is said %d times", said)
	}
}

// countedNouns are what verbs count.
const countedNouns = `samples|rows|groups|columns|names|values|clusters|windows|hosts|records|paths|instructions|operations|messages|processes|references|misses|sets|cells|objects|threads|pairs|files|steps|` +
	`partitions|events|runs|functions|ranks|CPUs|points|levels|loads|stores|accesses|pages|classes|loops|calls|trials|findings|iterations|regions|addresses|stacks|frames|symbols|warnings|dumps|lines|turns|` +
	`dependencies|elements|fields|parts|communicators|domains|selections|variables|layouts|questions|counters|copies|blocks|cores|caches|locations|recordings|allocations|changes|bars|collectives`

var numberedPlural = regexp.MustCompile(`%[ds] (?:(?:more|other|distinct|source|message|hardware|call) )?(?:` + countedNouns + `)\b`)

// noCounts are sentences in which no number stands before the word.
var noCounts = []string{
	`" (%s loads)", term.Percent(`,
	`sh -c %s runs a line`,
	"%s samples only accesses",
	`return fmt.Sprintf("%d ranks", len(lines))`, // one has another sentence
}

// limits and wholes stand before numbers that are never one, or are of a part:
// "at most 64 groups", "1 of 3 ranks".
var limits = []string{"of ", "than ", "between one and ", "most ", "least ", "to ", "axes and pairs, "}

// sentences are where words for people are written, beside the verbs.
var sentences = []string{
	"app/dataset", "app/server/memory", "app/server/mesh", "formats/perfdata", "memory/compare", "memory/compare/form",
	"messages/logical", "messages/whatif", "record", "record/mpitrace",
}

// A count beside a noun is written by term.Counted, which knows that one process is no
// "1 processes".
func TestCountsHaveNounsOfTheirNumber(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range sentences {
		more, err := filepath.Glob(filepath.Join("../../internal", folder, "*.go"))
		if err != nil || len(more) == 0 {
			t.Fatalf("no files in %s: %v", folder, err)
		}
		files = append(files, more...)
	}
	read := 0
	for _, name := range append(files, "../../internal/app/server/messages/trace.go") {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		read++
		for n, line := range strings.Split(string(source), "\n") {
			if slices.ContainsFunc(noCounts, func(s string) bool { return strings.Contains(line, s) }) {
				continue
			}
			for _, at := range numberedPlural.FindAllStringIndex(line, -1) {
				if !slices.ContainsFunc(limits, func(s string) bool { return strings.HasSuffix(line[:at[0]], s) }) {
					t.Errorf("%s:%d: %q has a fixed plural: use term.Counted", name, n+1, line[at[0]:at[1]])
				}
			}
		}
	}
	if read < 50 {
		t.Errorf("%d files were read", read)
	}
	for _, bad := range []string{`"%s windows of %d"`, `"%d events"`, `"%d more dumps"`} {
		if !numberedPlural.MatchString(bad) {
			t.Errorf("%s is not seen", bad)
		}
	}
}
