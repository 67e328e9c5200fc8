package record

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/record/pmu"
)

// heapGo says where its objects are, so that what the recording calls them can be
// compared with what they are.
const heapGo = `package main

import (
	"fmt"
	"unsafe"
)

type node struct {
	next *node
	v    [3]int
}

var grid struct {
	n     int
	cells []node
}

type small struct {
	next *small
	v    [5]int
}

//go:noinline
func chase(p *node, n int) *node {
	for ; n > 0; n-- {
		p = p.next
		p.v[1]++
	}
	return p
}

//go:noinline
func follow(p *small, n int) *small {
	for ; n > 0; n-- {
		p = p.next
	}
	return p
}

//go:noinline
func sum(a []float64, n int) (s float64) {
	for ; n > 0; n-- {
		for i := range a {
			s += a[i]
		}
	}
	return s
}

func ring(a []node) {
	for i := range a {
		a[i].next = &a[(i+7919)%len(a)]
	}
}

func main() {
	grid.cells = make([]node, 1<<18)
	local := make([]node, 1<<18)
	plain := make([]float64, 1<<20)
	ring(grid.cells)
	ring(local)
	var first, last *small
	for i := 0; i < 1<<15; i++ {
		s := &small{}
		if first == nil {
			first, last = s, s
		}
		last.next, last = s, s
	}
	last.next = first
	fmt.Println("grid.cells", unsafe.Pointer(&grid.cells[0]), len(grid.cells)*int(unsafe.Sizeof(node{})))
	fmt.Println("local", unsafe.Pointer(&local[0]), len(local)*int(unsafe.Sizeof(node{})))
	fmt.Println("plain", unsafe.Pointer(&plain[0]), len(plain)*8)
	p, q, s := &grid.cells[0], &local[0], 0.0
	for r := 0; r < 8; r++ {
		p, q = chase(p, 1<<18), chase(q, 1<<18)
		first = follow(first, 1<<21)
		s += sum(plain, 2)
	}
	if p == nil || q == nil || first == nil || s != 0 {
		fmt.Println("never")
	}
}
`

// The heap of a Go program has the names that its runtime knows.
func TestGoHeap(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: records a program that must not end before it was looked at")
	}
	dir := t.TempDir()
	source, program := filepath.Join(dir, "heap.go"), filepath.Join(dir, "heap")
	if err := os.WriteFile(source, []byte(heapGo), 0o600); err != nil {
		t.Fatal(err)
	}
	build := func(flags ...string) {
		t.Helper()
		cmd := exec.Command("go", append(append([]string{"build", "-o", program}, flags...), source)...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	// What the program prints goes into a file: where its objects are.
	printed := filepath.Join(dir, "printed")
	record := func() *Recorded {
		t.Helper()
		got, err := Record(t.Context(), &Options{Command: []string{"sh", "-c", `exec "$0" > "$1"`, program, printed}, Mode: Timer, Heap: true, Sampling: pmu.Options{Rate: 2000}, Say: func(string) {}})
		if err != nil {
			t.Skipf("this machine does not let us sample: %v", err)
		}
		if got.Outcome.Status != 0 {
			t.Fatalf("status %d", got.Outcome.Status)
		}
		return got
	}
	build()
	got := record()
	where, err := os.ReadFile(printed)
	if err != nil {
		t.Fatal(err)
	}
	checkGoHeap(t, got, where)

	build("-ldflags=-s -w")
	got = record()
	samples := got.Run.Table("samples")
	for i := range samples.Rows() {
		if name := textOf(samples.Column("symbol"), i); strings.HasPrefix(name, "Go heap") || strings.HasPrefix(name, "main.") {
			t.Fatalf("a stripped program has an object %q", name)
		}
	}
}

func checkGoHeap(t *testing.T, got *Recorded, where []byte) {
	t.Helper()
	type object struct{ low, high uint64 }
	objects := map[string]object{}
	for line := range bytes.Lines(where) {
		var name string
		var low, size uint64
		if _, err := fmt.Sscanf(string(line), "%s 0x%x %d", &name, &low, &size); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		objects[name] = object{low, low + size}
	}
	called := map[string]string{"grid.cells": "main.grid.cells", "local": "Go heap: 8 MiB of main.node", "plain": "Go heap: 8 MiB without pointers"}
	samples := got.Run.Table("samples")
	symbol, addr, function, index, field := samples.Column("symbol"), samples.Column("addr"), samples.Column("function"), samples.Column("index"), samples.Column("field")
	seen, right, smallSeen, smallRight := map[string]int{}, map[string]int{}, 0, 0
	for i := range samples.Rows() {
		if !addr.Has(i) {
			continue
		}
		at := addr.Data.([]uint64)[i] + addr.Base
		inside := ""
		for name, o := range objects {
			if at >= o.low && at < o.high {
				inside = name
			}
		}
		name := textOf(symbol, i)
		for object, want := range called {
			if name == want && inside != object {
				t.Fatalf("%#x is called %s, and is in %q", at, name, inside)
			}
		}
		switch {
		case inside != "":
			seen[inside]++
			if name == called[inside] {
				right[inside]++
				if o := objects[inside]; inside != "plain" && (!index.Has(i) || uint64(index.Float(i)) != (at-o.low)/32 || textOf(field, i) == "") {
					t.Fatalf("%#x is element %s of %s, field %q", at, index.Text(i), name, textOf(field, i))
				}
			}
		case textOf(function, i) == "main.follow":
			smallSeen++
			switch {
			case name == "Go heap: objects of 48 bytes":
				smallRight++
			case !strings.HasPrefix(name, "anonymous "): // seen for the first time when the program had ended
				t.Errorf("a small object is called %s", name)
			}
		}
	}
	t.Logf("%d samples: in objects %v, of these with the name %v; small %d, %d", samples.Rows(), seen, right, smallSeen, smallRight)
	for name := range called {
		if seen[name] < 20 || right[name] < seen[name]*9/10 {
			t.Errorf("%s: %d of %d samples have its name", name, right[name], seen[name])
		}
	}
	if smallSeen < 10 || smallRight < smallSeen/3 {
		t.Errorf("small objects: %d of %d", smallRight, smallSeen)
	}
}
