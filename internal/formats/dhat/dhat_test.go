package dhat

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/formats/foreign"
)

// What the program allocates and touches is known by construction.
const program = `
#include <stdlib.h>
static long sum(volatile long *a) { long s = 0; for (int i = 0; i < 100; i++) s += a[i]; return s; }
static long *make(void) {
	long *a = malloc(100 * sizeof *a);
	for (int i = 0; i < 100; i++) a[i] = i;
	return a;
}
int main(void) {
	long t = 0;
	for (int k = 0; k < 7; k++) { long *a = make(); t += sum(a); free(a); }
	return t != 7 * 4950;
}
`

func TestAgainstProgram(t *testing.T) {
	valgrind, cc := test.Peer(t, "valgrind", "valgrind"), test.Peer(t, "cc", "gcc")
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(in("t.c"), []byte(program), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cc, "-g", "-O1", "-fno-inline", in("t.c"), "-o", in("t")).CombinedOutput(); err != nil {
		t.Fatalf("cc: %v\n%s", err, out)
	}
	if out, err := exec.Command(valgrind, "-q", "--tool=dhat", "--dhat-out-file="+in("out"), in("t")).CombinedOutput(); err != nil {
		t.Fatalf("valgrind: %v\n%s", err, out)
	}
	input, err := foreign.Look(in("out"))
	if err != nil {
		t.Fatal(err)
	}
	if !Format.Sniff(input) {
		t.Fatal("not recognised")
	}
	got, err := Format.Samples(t.Context(), input, &foreign.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tab := got.Tables[0]
	for i := range tab.Rows() {
		if tab.Column(samples.Function).Text(i) != "make" {
			continue
		}
		for name, want := range map[string]float64{samples.Weight: 5600, "blocks": 7, "bytes_read": 5600, "bytes_written": 5600, "bytes_at_end": 0, samples.Line: 5} {
			if v := tab.Column(name).Float(i); v != want {
				t.Errorf("%s %g, want %g", name, v, want)
			}
		}
		if caller := tab.Column("caller").Text(i); caller != "main" {
			t.Errorf("called by %q", caller)
		}
		if object := tab.Column(samples.Symbol).Text(i); object != "t.c:5" {
			t.Errorf("object %q", object)
		}
		return
	}
	t.Error("no row of make")
}

// TestModes reads what Valgrind writes of copies and of a program's own events,
// and frames of Rust's library, which have columns.
func TestModes(t *testing.T) {
	for _, tt := range []struct{ head, event, counted, object string }{
		{`"mode":"copy","verb":"Copied"`, "bytes_copied", "blocks", ""},
		{`"mode":"ad-hoc","verb":"Occurred","bsu":"units","bksu":"events"`, "units_reported", "events", ""},
		{`"mode":"rust-heap","verb":"Allocated"`, "bytes_allocated", "blocks", "src/main.rs:12"},
	} {
		out, err := parse(t.Context(), strings.NewReader(`{"dhatFileVersion":2,`+tt.head+`,"pps":[{"tb":15,"tbk":3,"fs":[1]}],"ftbl":["[root]","0x1f: app::main (src/main.rs:12:5)"]}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		tab := out.Tables[0]
		weight, event := samples.Summed(tab)
		if event != tt.event || weight.Float(0) != 15 || tab.Column(tt.counted).Float(0) != 3 {
			t.Errorf("%s: %q, want %q", tt.head, event, tt.event)
		}
		if tab.Column(samples.File).Text(0) != "src/main.rs" || tab.Column(samples.Line).Float(0) != 12 {
			t.Errorf("%s:%v", tab.Column(samples.File).Text(0), tab.Column(samples.Line).Float(0))
		}
		object := ""
		if c := tab.Column(samples.Symbol); c != nil {
			object = c.Text(0)
		}
		if object != tt.object {
			t.Errorf("%s: object %q, want %q", tt.head, object, tt.object)
		}
	}
}

func TestHostile(t *testing.T) {
	for name, text := range map[string]string{
		"version": `{"dhatFileVersion":9,"pps":[]}`,
		"frame":   `{"dhatFileVersion":2,"pps":[{"tb":1,"fs":[4]}],"ftbl":["[root]"]}`,
		"below":   `{"dhatFileVersion":2,"pps":[{"tb":1,"fs":[-1]}],"ftbl":["[root]"]}`,
		"uneven":  `{"dhatFileVersion":2,"pps":[{"tb":1,"rb":1},{"tb":1}],"ftbl":["[root]"]}`,
		"empty":   `{"dhatFileVersion":2}`,
		"cut":     `{"dhatFileVersion":2,"pps":[{`,
	} {
		if _, err := parse(t.Context(), strings.NewReader(text), nil); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"dhatFileVersion":2,"tu":"instrs","pps":[{"tb":8,"tbk":1,"tl":4,"fs":[1,2]}],"ftbl":["[root]","0x1: malloc (in /x)","0x2: main (a.c:3)"]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		sniff(data)
		_, _ = parse(t.Context(), bytes.NewReader(data), nil)
	})
}
