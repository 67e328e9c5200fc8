package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
)

// accessedCells touches cell c of an array of doubles 1 + c % 3 times, and cell 5 never.
const accessedCells = `
#include <stdlib.h>
enum { CELLS = 12 };
__attribute__((noinline)) static void sweep(volatile double *energy) {
	for (int c = 0; c < CELLS; c++)
		for (int k = 0; k < (c == 5 ? 0 : 1 + c % 3); k++)
			energy[c] = k;
}
int main(void) {
	double *energy = malloc(CELLS * sizeof *energy);
	sweep(energy);
	free(energy);
}
`

// TestMeshAccesses records a program that touches its cells a known number of times, and
// shares the samples of another recording out over them.
func TestMeshAccesses(t *testing.T) {
	r := newRecorder(t)
	source, program, refs := filepath.Join(r.dir, "cells.c"), filepath.Join(r.dir, "cells"), filepath.Join(r.dir, "refs.isobath")
	if err := os.WriteFile(source, []byte(accessedCells), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(test.Peer(t, "gcc", "gcc"), "-O1", "-g", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := r.command("record", "--refs", "--function", "sweep", "--backend", "step", "-o", refs, "--", program).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var samples strings.Builder
	samples.WriteString("cell,latency\n")
	for c := range 12 { // 60 cycles in all on every cell
		fmt.Fprintf(&samples, "%d,20\n%d,40\n", c, c)
	}
	csv := filepath.Join(r.dir, "samples.csv")
	if err := os.WriteFile(csv, []byte(samples.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	grid := filepath.Join(r.dir, "grid.vtk")
	if err := os.WriteFile(grid, []byte("# vtk DataFile Version 3.0\ncells\nASCII\nDATASET STRUCTURED_POINTS\nDIMENSIONS 13 2 2\nORIGIN 0 0 0\nSPACING 1 1 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{csv, "--dims", "12", "--accesses", refs, "--cell-bytes", "energy=8", "--field", "latency_sum_per_access"}
	out, err := meshOutput(t, append(args, "--json", "--values")...)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Values   []*float64     `json:"values"`
		NoAccess int            `json:"no_access"`
		Accesses map[string]int `json:"accesses"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	for c, v := range got.Values {
		switch {
		case c == 5 && v != nil:
			t.Errorf("cell 5 was never accessed and has %g per access", *v)
		case c != 5 && (v == nil || *v != 60/float64(1+c%3)):
			t.Errorf("cell %d has %v per access, want %g", c, v, 60/float64(1+c%3))
		}
	}
	// Eleven cells: 1 + 2 + 3 four times, without the three of cell 5.
	if got.NoAccess != 1 || got.Accesses["on_cells"] != 21 || got.Accesses["out_of_range"] != 0 {
		t.Errorf("%d cells without access, %v", got.NoAccess, got.Accesses)
	}
	if text, err := meshOutput(t, args...); err != nil || !strings.Contains(text, "21 to cells") || !strings.Contains(text, "no value in 1 cell with samples") {
		t.Errorf("%v: %s", err, text)
	}
	// A name that nothing has is refused, also beside one that is right, and before a page is served.
	for _, objects := range []string{"enrgy=8", "energy=8,pressur=8"} {
		wrong := []string{"--accesses", refs, "--cell-bytes", objects}
		if _, err := meshOutput(t, append(args[:3:3], wrong...)...); err == nil || !strings.Contains(err.Error(), "nothing touches object") {
			t.Errorf("%s: %v", objects, err)
		}
		out, err := r.command(append([]string{"open", csv, "--mesh", grid, "--no-browser", "--port", "0"}, wrong...)...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "nothing touches object") || !strings.Contains(string(out), "energy") {
			t.Errorf("open with %s: %v: %s", objects, err, out)
		}
	}
	if _, err := meshOutput(t, append(args[:3:3], "--accesses", csv, "--cell-bytes", "energy=8")...); err == nil || !strings.Contains(err.Error(), "no references") {
		t.Errorf("samples in place of references: %v", err)
	}
}
