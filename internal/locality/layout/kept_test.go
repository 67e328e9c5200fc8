package layout

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/refs"
)

// keptProgram has variables, one of them a pointer, and what it points to.
const keptProgram = `struct particle { double x, v; int tag[3]; char rest[100]; } *p, cells[50];
double grid[20][30];
struct node { long key; struct node *next; };
long f(struct node *n) { return n->key; }
int main(void) { return p == 0 && grid[1][2] == 0 && cells[3].tag[1] == 0 && f != 0; }
`

// TestKeptTypes: a table of kept types knows what one with the program knows, of
// variables met by name or by address alone, of what is allocated, and of
// structures that the user names.
func TestKeptTypes(t *testing.T) {
	source := filepath.Join(t.TempDir(), "kept.c")
	if err := os.WriteFile(source, []byte(keptProgram), 0o600); err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(t.TempDir(), "kept")
	if out, err := exec.Command(test.Peer(t, "gcc", "gcc"), "-g", "-no-pie", "-o", exe, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	program, err := symbol.OpenProgram(exe, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	at := func(name string) uint64 {
		g, ok := program.Binary.Variable(name)
		if !ok {
			t.Fatalf("no variable %s", name)
		}
		return g.Start
	}
	const heap = 0x7000_0000
	objects := []refs.Object{{}, {Name: "p" + symbol.OfVariable, Start: at("p")}, {Name: "p", Start: heap}, {Name: "grid", Start: at("grid")}, {Name: "cells", Start: at("cells")},
		{Name: "n", Start: heap + 0x10000}, {Name: "n #2", Start: heap + 0x10040}, {Name: "kept.c:9 64 B", Start: heap + 0x20000}, {Name: "stack", Start: 0x7fff_0000}}
	body, err := Keep(Typed(objects, program))
	if err != nil {
		t.Fatal(err)
	}
	says := "object \"kept.c:9 64 B\" is q struct particle\n"
	known := func(program *symbol.Program, body []byte, named bool) (out []Object) {
		given, err := ReadGiven(strings.NewReader(says))
		if err != nil {
			t.Fatal(err)
		}
		if body != nil {
			if given, err = given.WithTypes(body); err != nil {
				t.Fatal(err)
			}
		}
		tab := NewTable(&refs.About{Objects: objects}, given, program)
		for i, o := range objects[1:] {
			r := refs.Ref{Addr: o.Start + 8, Size: 8}
			if named {
				r.Object = uint32(i + 1)
			}
			tab.Member(&r)
		}
		tab.Finish()
		for _, o := range tab.Objects[1:] {
			o.members = nil
			out = append(out, *o)
		}
		return out
	}
	for _, named := range []bool{true, false} {
		want, got := known(program, nil, named), known(nil, body, named)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("objects named %v: kept\n%+v\nof the program\n%+v", named, got, want)
		}
		typed := 0
		for _, o := range got {
			if o.Known != Unknown {
				typed++
			}
		}
		if least := map[bool]int{true: 6, false: 2}[named]; typed < least { // p itself ends before the address that is asked for
			t.Errorf("objects named %v: %d have types, want %d", named, typed, least)
		}
	}
}

// TestKeptPaths: the name of a type that tells where its source lies is left out.
func TestKeptPaths(t *testing.T) {
	body, err := Keep([]Object{{Name: "f", Elem: 8, Type: "(lambda at /home/ada/x.cpp:3:4)", Known: ByType, Fields: []Field{{Name: "g", Size: 8, Type: "g<(lambda at /home/ada/x.cpp:3:4)>"}}}})
	if err != nil || strings.Contains(string(body), "ada") {
		t.Errorf("%s, %v", body, err)
	}
	if _, err := (*Given)(nil).WithTypes(body); err != nil {
		t.Error(err)
	}
}

func TestKeptThatCannotBe(t *testing.T) {
	for text, want := range map[string]string{
		`{"version":2}`: "version 2",
		`[`:             "unexpected end",
		`{"version":1,"objects":[{"name":"a","start":18446744073709551615,"bytes":2,"element":1}]}`:                                              `object "a": 2 bytes`,
		`{"version":1,"objects":[{"name":"a","start":1,"bytes":8,"element":16}]}`:                                                                "elements of 16",
		`{"version":1,"objects":[{"name":"a"}]}`:                                                                                                 "elements of 0",
		`{"version":1,"objects":[{"name":"a","element":8,"fields":[{"name":"f","offset":4,"bytes":8}]}]}`:                                        `field "f"`,
		`{"version":1,"objects":[{"name":"a","element":8,"fields":[{"name":"f","offset":4,"bytes":2},{"name":"g","offset":0,"bytes":2}]}]}`:      `field "g"`,
		`{"version":1,"objects":[{"name":"a","start":1,"bytes":8,"element":8,"fields":[{"name":"f","offset":1,"bytes":18446744073709551615}]}]}`: `field "f"`,
	} {
		if _, err := (*Given)(nil).WithTypes([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one of %q", text, err, want)
		}
	}
}
