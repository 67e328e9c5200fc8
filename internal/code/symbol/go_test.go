package symbol

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const countGo = `package main

import "fmt"

var table [16][4]int64

func add(a, b int64) int64 { return a + b }

//go:noinline
func fill(n int64) (s int64) {
	for i := range table {
		for j := range table[i] {
			table[i][j] = add(n, int64(i*j))
			s = add(s, table[i][j])
		}
	}
	return s
}

func main() { fmt.Println(fill(3)) }
`

// TestGoProgram compares with the Go toolchain's own addr2line, which reads the
// line table of the runtime and not DWARF.
func TestGoProgram(t *testing.T) {
	dir := t.TempDir()
	source, program := filepath.Join(dir, "count.go"), filepath.Join(dir, "count")
	if err := os.WriteFile(source, []byte(countGo), 0o666); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", program, source)
	build.Env = append(os.Environ(), "GOFLAGS=", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	b, err := Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	low, high, err := b.Function("main.fill")
	if err != nil {
		t.Fatal(err)
	}
	var ask strings.Builder
	for a := low; a < high; a++ {
		fmt.Fprintf(&ask, "%#x\n", a)
	}
	peer := exec.Command("go", "tool", "addr2line", program)
	peer.Stdin = strings.NewReader(ask.String())
	out, err := peer.Output()
	if err != nil {
		t.Fatalf("go tool addr2line: %v", err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	inlined := 0
	for i := 0; i+1 < len(lines); i += 2 {
		at := low + uint64(i/2)
		file, number, _ := cutLast(lines[i+1], ":")
		line, _ := strconv.Atoi(number)
		got := b.Locate(at)
		if got.Inner().Line != line || filepath.Base(got.Inner().File) != filepath.Base(file) || got.Outer().Function != "main.fill" {
			t.Errorf("%#x: %s, want %s:%d", at, frameList(got.Frames), file, line)
		}
		if len(got.Frames) > 1 {
			inlined++
			if got.Inner().Function != "main.add" {
				t.Errorf("%#x: inlined function %q", at, got.Inner().Function)
			}
		}
	}
	if inlined == 0 {
		t.Error("no inlined call was seen")
	}
	global(t, b, program)
}

func global(t *testing.T, b *Binary, program string) {
	t.Helper()
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		if s.Name != "main.table" {
			continue
		}
		g, ok := b.Global(s.Value + 8*(4*5+3))
		if !ok || g.Type == nil || g.Name != "main.table" {
			t.Fatalf("global %+v, %v", g, ok)
		}
		if e := g.Type.Element(8 * (4*5 + 3)); e.X != 3 || e.Y != 5 || e.Index != 23 {
			t.Errorf("element %+v of %s", e, g.Type.Name)
		}
		return
	}
	t.Error("the program has no main.table")
}
