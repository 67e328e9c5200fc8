package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/base/test"
)

// openStdin opens standard input and returns what there is when it is read.
func openStdin(t *testing.T, in io.Reader, words ...string) (home frame.Home) {
	t.Helper()
	spools := t.TempDir()
	t.Setenv("TMPDIR", spools)
	t.Run("open", func(t *testing.T) {
		ask := openedFrom(t, in, words...)
		for end := time.Now().Add(2 * time.Minute); len(home.Runs) == 0; time.Sleep(20 * time.Millisecond) {
			if ask("runs", &home); time.Now().After(end) {
				t.Fatal("nothing was opened")
			}
		}
	})
	left, err := filepath.Glob(filepath.Join(spools, "isobath-stdin-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	return home
}

func TestOpenStdin(t *testing.T) {
	csv := "time,source,line,latency,cpu,addr\n1,heat.c,5,100,0,0x1000\n2,heat.c,5,200,1,0x1008\n3,heat.c,9,7,0,0x2000\n"
	for _, words := range [][]string{{"open", "-"}, {"-"}} {
		home := openStdin(t, strings.NewReader(csv), words...)
		if len(home.Runs) != 1 || home.Runs[0].Rows != 3 || home.Runs[0].Name != "stdin" {
			t.Errorf("isobath %v: runs %+v, want one of 3 samples", words, home.Runs)
		}
	}
}

// Recordings as perf writes them to a pipe and to a file.
func TestOpenStdinPerf(t *testing.T) {
	for name, rows := range map[string]int{"perf/local_pipe.data": 151, "perf/local_callgraph.data": 147} {
		f, err := os.Open(test.Fixture(t, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if home := openStdin(t, f, "open", "-"); len(home.Runs) != 1 || home.Runs[0].Rows != rows {
			t.Errorf("%s: runs %+v, want one of %d samples", name, home.Runs, rows)
		}
	}
}

func TestOpenStdinErrors(t *testing.T) {
	for _, tt := range []struct {
		in, want string
		words    []string
	}{
		{"junk", "unknown format", []string{"open", "-", "--no-browser", "--port", "0"}},
		{"", "only once", []string{"open", "-", "-", "--no-browser", "--port", "0"}},
	} {
		root := newRoot()
		root.SetArgs(tt.words)
		root.SetIn(strings.NewReader(tt.in))
		root.SetOut(io.Discard)
		root.SetErr(io.Discard)
		ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
		err := root.ExecuteContext(ctx)
		stop()
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("isobath %v: %v, want %q", tt.words, err, tt.want)
		}
	}
}

// An interrupt ends the wait for input that never comes.
func TestOpenStdinInterrupted(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ctx, stop := context.WithCancel(context.Background())
	silent, w := io.Pipe()
	defer w.Close()
	root := newRoot()
	root.SetArgs([]string{"open", "-", "--no-browser"})
	root.SetIn(silent)
	stop()
	if err := root.ExecuteContext(ctx); err == nil {
		t.Error("it ended without an error")
	}
}
