package tree_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/isobath/isobath/internal/loops/tree"
)

// lines is a program whose instructions are all of one line.
type lines struct{ file string }

func (l lines) Line(uint64) (file string, line int, function string) { return l.file, 1, "f" }

// A trace may be of a stranger and name any file: texts are read from below its
// folder alone, if they look like source and are plain files. Of a program that
// the user names, sources are where it says.
func TestSourcesOfStrangers(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	const text = "for (i = 0; i < n; i++) s += a[i];"
	for _, file := range []string{in("a.c"), in("notes"), filepath.Join(outside, "a.c"), filepath.Join(outside, "id_rsa")} {
		if err := os.WriteFile(file, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(outside, "a.c"), in("link.c")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(in("pipe.c"), 0o600); err != nil {
		t.Fatal(err)
	}
	textOf := func(named string, program *lines) string {
		t.Helper()
		var rows strings.Builder
		rows.WriteString("seq,op,addr,size,pc,func,file,line\n")
		for i := range 40 {
			place := "f," + named + ",1"
			if program != nil {
				place = ",,"
			}
			fmt.Fprintf(&rows, "%d,%c,0x%x,8,0x%x,%s\n", i, "LS"[i%2], 0x1000+8*(i/2), 0x400000+4*(i%2), place)
		}
		path := in("refs.csv")
		if err := os.WriteFile(path, []byte(rows.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := tree.OpenFile(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if program != nil {
			f.OfProgram(program)
		}
		found, err := tree.Build(t.Context(), f.Input)
		if err != nil || len(found.Loops) != 1 {
			t.Fatalf("%v, %+v", err, found)
		}
		return found.Loops[0].Text
	}
	for _, tt := range []struct {
		name string
		read bool
	}{
		{"a.c", true}, {in("a.c"), true}, {"../" + filepath.Base(dir) + "/a.c", false}, {"notes", false}, {"link.c", false}, {"pipe.c", false},
		{filepath.Join(outside, "a.c"), false}, {filepath.Join(outside, "id_rsa"), false}, {"/etc/passwd", false}, {"/dev/zero", false},
	} {
		if got := textOf(tt.name, nil); (got != "") != tt.read {
			t.Errorf("a trace that names %s shows %q", tt.name, got)
		}
	}
	for name, read := range map[string]bool{filepath.Join(outside, "a.c"): true, filepath.Join(outside, "id_rsa"): false, "/dev/zero": false} {
		if got := textOf("", &lines{name}); (got != "") != read {
			t.Errorf("a program that names %s shows %q", name, got)
		}
	}
}
