package formats

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/formats/foreign"
)

// unknown is a file that another program makes, and what is said about it.
type unknown struct {
	file, says string
	shell      string // makes it in an empty folder that has p.c
}

const (
	pythonProgram = "/usr/bin/python3"
	cProgram      = "#include <stdlib.h>\nint main(void) { volatile int sum = 0; char *p = malloc(1 << 16); for (int i = 0; i < 1 << 16; i++) { p[i] = i; sum += p[i]; } free(p); return 0; }\n"
	goTest        = `rm p.c; printf 'module m\n\ngo 1.26\n' > go.mod; printf 'package m\n\nimport "testing"\n\nfunc TestM(t *testing.T) {\n\tc := make(chan int)\n\tgo func() { c <- 1 }()\n\t<-c\n}\n\nfunc BenchmarkM(b *testing.B) {}\n' > m_test.go; export GOFLAGS= GOWORK=off; `
)

// ofPrograms are files of programs that make test has.
var ofPrograms = []unknown{
	{"gmon.out", "a profile of gprof", "gcc -pg -o p p.c && ./p"},
	{"report.txt", "a report of gprof", "gcc -pg -o p p.c && ./p && gprof p gmon.out > report.txt"},
	{"p.gcda", "counts of gcov", "gcc --coverage -c p.c && gcc --coverage -o p p.o && ./p"},
	{"p.gcno", "counts of gcov", "gcc --coverage -c p.c && gcc --coverage -o p p.o"},
	{"p.c.gcov", "counts of gcov", "gcc --coverage -c p.c && gcc --coverage -o p p.o && ./p && gcov p.gcda"},
	{"p.gcov.json.gz", "counts of gcov", "gcc --coverage -c p.c && gcc --coverage -o p p.o && ./p && gcov --json-format p.gcda"},
	{"p", "isobath record", "gcc -o p p.c"},
	{"p.c", "the source of a program", "true"},
	{"listing.txt", "a listing of objdump", "gcc -o p p.c && objdump -d p > listing.txt"},
	{"lib.a", "a library archive", "gcc -c p.c && ar cr lib.a p.o"},
	{"massif.out", "--tool=dhat", "gcc -o p p.c && valgrind --tool=massif --massif-out-file=massif.out ./p"},
	{"errors.xml", "--tool=callgrind", "gcc -o p p.c && valgrind --xml=yes --xml-file=errors.xml ./p"},
	{"errors.txt", "--tool=callgrind", "gcc -o p p.c && valgrind --log-file=errors.txt ./p"},
	{"counters.txt", "counters of perf stat", "perf stat -e task-clock -o counters.txt true"},
	{"report.perf", "a report of perf", "perf record -q -e task-clock -o p.data true && perf report -i p.data --stdio > report.perf"},
	{"counters.csv", "counters of perf stat", "perf stat -x, -e task-clock -o counters.csv true"},
	{"v8.cpuprofile", "a profile of V8", "node --cpu-prof --cpu-prof-name=v8.cpuprofile -e 0"},
	{"v8.heapprofile", "a heap profile of V8", "node --heap-prof --heap-prof-name=v8.heapprofile -e 0"},
	{"v8.heapsnapshot", "a heap snapshot of V8", `node -e 'require("v8").writeHeapSnapshot("v8.heapsnapshot")'`},
	{"v8.log", "--prof-process", "node --prof --no-logfile-per-isolate --logfile=v8.log -e 0"},
	{"go.trace", "go tool trace -pprof", goTest + "go test -trace go.trace ."},
	{"cover.out", "coverage of go test", goTest + "go test -coverprofile cover.out ."},
	{"bench.txt", "results of go test -bench", goTest + "go test -bench . -benchtime 1x > bench.txt"},
	{"py.prof", "cProfile", pythonProgram + ` -c 'import cProfile; cProfile.run("sum(range(9))", "py.prof")'`},
	{"py.pickle", "a pickle of Python", pythonProgram + ` -c 'import pickle; pickle.dump({"a": 1}, open("py.pickle", "wb"))'`},
	{"py.snapshot", "tracemalloc", pythonProgram + ` -c 'import tracemalloc; tracemalloc.start(); x = [0] * 9; tracemalloc.take_snapshot().dump("py.snapshot")'`},
	{"imports.txt", "-X perf", pythonProgram + " -X importtime -c 'import json' 2> imports.txt"},
	{"x.db", "sqlite3 -header -csv", pythonProgram + ` -c 'import sqlite3; c = sqlite3.connect("x.db"); c.execute("create table t (a)"); c.commit()'`},
	{"x.zip", "a zip archive", pythonProgram + " -m zipfile -c x.zip p.c"},
	{"x.tar", "a tar archive", "tar cf x.tar p.c"},
	{"x.tar.gz", "a tar archive", "tar czf x.tar.gz p.c"},
	{"cpu.txt", "lstopo --of xml", "LC_ALL=C lscpu > cpu.txt"},
	{"cpu.json", "lstopo --of xml", "lscpu -J > cpu.json"},
	{"maps.txt", "the mappings of a process", "cat /proc/self/maps > maps.txt"},
}

// TestUnknownOfPrograms makes files with other programs and holds that each is
// named, with what could be done, and not taken for a table.
func TestUnknownOfPrograms(t *testing.T) {
	for _, peer := range [][2]string{{"gcc", "gcc"}, {"valgrind", "valgrind"}, {"perf", "linux-perf"}, {"node", "nodejs"}, {pythonProgram, "python3"}} {
		test.Peer(t, peer[0], peer[1])
	}
	for _, tt := range ofPrograms {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			folder := made(t, tt.shell)
			_, err := Known.Identify(filepath.Join(folder, tt.file))
			if !errors.Is(err, foreign.ErrUnknown) || !strings.Contains(err.Error(), "it looks like") || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%v, want %q", err, tt.says)
			}
		})
	}
}

// TestAdviceForGoTraces follows the advice for a trace of Go: what comes out is
// read.
func TestAdviceForGoTraces(t *testing.T) {
	folder := made(t, goTest+"go test -trace go.trace . && go tool trace -pprof=sync go.trace > out.pb.gz")
	found, err := Known.Identify(filepath.Join(folder, "out.pb.gz"))
	if err != nil {
		t.Fatal(err)
	}
	out, err := found.Samples(t.Context(), &foreign.Options{})
	if err != nil || out.Tables[0].Rows() == 0 {
		t.Errorf("%+v, %v", out, err)
	}
}

// made runs a script in a folder that has p.c, and returns the folder.
func made(t *testing.T, script string) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "p.c"), []byte(cProgram), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = folder
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return folder
}
