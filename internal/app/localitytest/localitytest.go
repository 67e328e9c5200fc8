// Package localitytest records programs for tests of locality: compiled, run
// under the emulator, with the objects they announce themselves.
package localitytest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/locality/layout"
	"github.com/isobath/isobath/internal/locality/replay"
	"github.com/isobath/isobath/internal/record/reftrace"
	"github.com/isobath/isobath/internal/record/target"
)

// Recorded is a program's references and objects.
type Recorded struct {
	*replay.Trace
	Table *layout.Table
	Refs  []refs.Ref

	again func(t testing.TB) *Recorded
}

// Again is the same recording, as if nobody had looked at it: an analysis
// completes what is known of objects.
func (r *Recorded) Again(t testing.TB) *Recorded { return r.again(t) }

// environment is one for all recordings of a process: they are made one after
// another.
var environment sync.Mutex

// Program says what to record.
type Program struct {
	Source    string
	Flags     []string
	Args      []string
	Function  string // default work
	AllOf     bool   // every thread that enters the function
	NoObjects bool   // forget what the program says of its objects
}

// compileC compiles a C program.
func compileC(t testing.TB, source string, flags ...string) string {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "program")
	args := append([]string{"-g", "-no-pie", "-o", exe, source}, flags...)
	if out, err := exec.Command(test.Peer(t, "gcc", "gcc"), append(args, "-lpthread")...).CombinedOutput(); err != nil {
		t.Fatalf("compile %s: %v\n%s", source, err, out)
	}
	return exe
}

// Record compiles and records a program under qemu. Programs that use loc.h
// write their objects to the file that LOC_OBJECTS names.
func Record(t testing.TB, p Program) *Recorded {
	t.Helper()
	test.Peer(t, "qemu-x86_64", "qemu-user")
	exe := compileC(t, p.Source, p.Flags...)
	objects := filepath.Join(t.TempDir(), "objects")
	o := reftrace.Options{Command: append([]string{exe}, p.Args...), Region: target.Region{Function: "work"}, Backend: reftrace.QEMU, Thread: reftrace.FirstThread}
	if p.Function != "" {
		o.Region.Function = p.Function
	}
	if p.AllOf {
		o.Thread = reftrace.AllThreads
	}
	rec, err := announced(o, objects)
	if err != nil {
		t.Fatal(err)
	}
	return load(t, rec, exe, objects, p.NoObjects)
}

// announced records a program that writes its objects to a file.
func announced(o reftrace.Options, objects string) (*reftrace.Recording, error) {
	environment.Lock()
	defer environment.Unlock()
	if err := os.Setenv("LOC_OBJECTS", objects); err != nil {
		return nil, err
	}
	defer os.Unsetenv("LOC_OBJECTS")
	return reftrace.Record(context.Background(), o)
}

func load(t testing.TB, rec *reftrace.Recording, exe, objects string, forget bool) *Recorded {
	t.Helper()
	var given *layout.Given
	if f, err := os.Open(objects); err == nil && !forget {
		defer f.Close()
		if given, err = layout.ReadGiven(f); err != nil {
			t.Fatal(err)
		}
	}
	program, err := symbol.OpenProgram(exe, symbol.BiasesOf("qemu")...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close() })
	about := &refs.About{Has: rec.Has, Places: rec.Places, Objects: rec.Objects}
	table := layout.NewTable(about, given, program)
	r := replay.NewReader(table.Number, 1<<28)
	if err := r.Add(rec.Refs); err != nil {
		t.Fatal(err)
	}
	table.Finish()
	return &Recorded{Trace: r.Trace(rec.Places), Table: table, Refs: rec.Refs, again: func(t testing.TB) *Recorded { return load(t, rec, exe, objects, forget) }}
}
