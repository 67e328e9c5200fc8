package target

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/base/test"
)

// The compiler puts what hardly ever runs of a function aside, under a name that
// reads like the function's.
const source = `asm(".text\n.type _ZN4deep5twiceEi.cold,@function\n_ZN4deep5twiceEi.cold: ret\n.size _ZN4deep5twiceEi.cold,.-_ZN4deep5twiceEi.cold");
namespace deep { int twice(int x) { return 2 * x; } }
extern "C" void mark_begin() {}
extern "C" void mark_end() {}
int main(int argc, char**) { mark_begin(); int r = deep::twice(argc); mark_end(); return r; }
`

func build(t *testing.T, flags ...string) string {
	t.Helper()
	cc := test.Peer(t, "c++", "g++")
	dir := t.TempDir()
	file, exe := filepath.Join(dir, "p.cpp"), filepath.Join(dir, "p")
	if err := os.WriteFile(file, []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cc, append(flags, file, "-o", exe)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return exe
}

func TestFunctions(t *testing.T) {
	p, err := Open(build(t))
	if err != nil {
		t.Fatal(err)
	}
	twice, err := p.Function("twice")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"deep::twice", "deep::twice(int)", "_ZN4deep5twiceEi"} {
		if got, err := p.Function(name); err != nil || got != twice {
			t.Errorf("Function(%s) = %v, %v, want %v", name, got, err, twice)
		}
	}
	if len(p.Code(twice.Low)) != 15 {
		t.Errorf("%d bytes of code", len(p.Code(twice.Low)))
	}
	if p.Code(p.CodeStart-1) != nil {
		t.Error("code before the first code")
	}
	_, err = p.Function("twic")
	if err == nil || !strings.Contains(err.Error(), `did you mean "deep::twice"`) {
		t.Errorf("error = %v", err)
	}
	b, err := p.Resolve(Region{Begin: "mark_begin", End: "mark_end"})
	if err != nil || !b.After || b.Stop.Low == 0 {
		t.Errorf("Resolve = %+v, %v", b, err)
	}
	if _, err := p.Resolve(Region{Begin: "main"}); err == nil {
		t.Error("a region without end is accepted")
	}
}

func TestRefuses(t *testing.T) {
	if p, err := Open(build(t, "-s")); err != nil {
		t.Error(err)
	} else if _, err := p.Function("main"); err == nil || !strings.Contains(err.Error(), "no symbols") {
		t.Errorf("stripped: %v", err)
	}
	script := filepath.Join(t.TempDir(), "run.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(script); err == nil || !strings.Contains(err.Error(), "script") {
		t.Errorf("script: %v", err)
	}
	if _, err := Find("no-such-program"); err == nil {
		t.Error("a missing program is found")
	}
}

func TestParseMaps(t *testing.T) {
	text := "00400000-00401000 r--p 00000000 08:01 1 /bin/a\n00401000-00402000 r-xp 00001000 08:01 1 /bin/a b\n7f0-7f1 r-xp 0 0:0 0 [vdso]\nx\n"
	want := []Module{{"/bin/a b", 0x401000, 0x402000, 0x1000}}
	if d := cmp.Diff(want, ParseMaps([]byte(text))); d != "" {
		t.Error(d)
	}
}

func FuzzOpen(f *testing.F) {
	if exe, err := os.ReadFile("/bin/true"); err == nil && len(exe) < 1<<20 {
		f.Add(exe)
	}
	f.Add([]byte("\x7fELF\x02\x01\x01"))
	f.Fuzz(func(t *testing.T, in []byte) {
		path := filepath.Join(t.TempDir(), "exe")
		if err := os.WriteFile(path, in, 0o666); err != nil {
			t.Fatal(err)
		}
		if p, err := Open(path); err == nil {
			p.Function("main")
			p.Code(p.Entry)
		}
	})
}
