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

// Programs that hand over 3 × 2 × 2 boxes at iterations 5 and 10, with e = 10·cell +
// iteration on cells, v = (x, 2x, iteration) on cells and t = x + y + z on points.
const insituC = `
#include "isobath_step.h"
int main(void) {
	double origin[3] = {0, 0, 0}, size[3] = {1, 1, 1}, e[12], v[36], t[36];
	for (int it = 5; it <= 10; it += 5) {
		isobath_step *s = isobath_step_begin(it, 0.25 * it);
		isobath_step_boxes(s, 3, 2, 2, origin, size);
		for (int c = 0; c < 12; c++) {
			e[c] = 10 * c + it;
			v[3 * c] = c % 3; v[3 * c + 1] = 2 * (c % 3); v[3 * c + 2] = it;
		}
		for (int p = 0; p < 36; p++) t[p] = p % 4 + p / 4 % 3 + p / 12;
		isobath_step_points(s, "t", t, 1); /* before those on cells: the file has them after */
		isobath_step_cells(s, "e", e, 1);
		isobath_step_cells(s, "v", v, 3);
		if (isobath_step_end(s) != 0) return 1;
	}
	return 0;
}
`

const insituFortran = `
program insitu
  use isobath_steps
  use iso_fortran_env, only: real64
  implicit none
  type(isobath_step) :: s
  real(real64) :: xyz(3, 36), e(12), v(3, 12), t(36)
  integer :: corners(8, 12), it, x, y, z, c, p, k, dx, dy, dz
  do p = 0, 35
    xyz(:, p + 1) = real([mod(p, 4), mod(p/4, 3), p/12], real64)
    t(p + 1) = sum(xyz(:, p + 1))
  end do
  do c = 0, 11
    x = mod(c, 3); y = mod(c/3, 2); z = c/6
    do k = 0, 7
      dx = merge(1, 0, any(k == [1, 2, 5, 6])); dy = merge(1, 0, any(k == [2, 3, 6, 7])); dz = k/4
      corners(k + 1, c + 1) = x + dx + 4*(y + dy + 3*(z + dz))
    end do
  end do
  do it = 5, 10, 5
    do c = 0, 11
      e(c + 1) = 10*c + it
      v(:, c + 1) = [mod(c, 3), 2*mod(c, 3), it]
    end do
    call isobath_step_begin(s, it, 0.25_real64*it)
    call isobath_step_mesh(s, xyz, corners)
    call isobath_step_cells(s, 'e', e)
    call isobath_step_cells(s, 'v', v)
    call isobath_step_points(s, 't', t)
    call isobath_step_end(s)
  end do
end program insitu
`

const insituPython = `
import numpy as np, isobath_step
z, y, x = np.meshgrid(np.arange(3), np.arange(3), np.arange(4), indexing="ij")
points = np.stack([x.ravel(), y.ravel(), z.ravel()], axis=1)
corners = []
for c in range(12):
    at = (c % 3, c // 3 % 2, c // 6)
    corners.append([at[0] + dx + 4 * (at[1] + dy + 3 * (at[2] + dz))
                    for dz in (0, 1) for dx, dy in ((0, 0), (1, 0), (1, 1), (0, 1))])
c = np.arange(12)
for it in (5, 10):
    isobath_step.hand_over(it, 0.25 * it, points, corners,
                           cells={"e": 10 * c + it, "v": np.stack([c % 3, 2 * (c % 3), 0 * c + it], axis=1)},
                           point_data={"t": points.sum(axis=1)})
`

// TestInSitu hands a mesh over from C, Fortran and Python: the steps are dumps like any
// other, with samples on them.
func TestInSitu(t *testing.T) {
	clients, folder := filepath.Join(test.Root(), "clients"), t.TempDir()
	inC := filepath.Join(folder, "inC")
	buildInSitu(t, inC)
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	samples := write("samples.csv", "x,y,z,iteration,latency\n0,0,0,4,10\n2,1,1,9,30\n2,1,1,10,50\n")
	for name, program := range map[string]func(t *testing.T) []string{
		"C": func(*testing.T) []string { return []string{inC} },
		"Fortran": func(t *testing.T) []string {
			program := filepath.Join(folder, "inFortran")
			compile(t, test.Peer(t, "gfortran", "gfortran"), "-Wall", filepath.Join(clients, "isobath_step.f90"), write("insitu.f90", insituFortran), "-o", program)
			return []string{program}
		},
		"Python": func(t *testing.T) []string {
			t.Setenv("PYTHONPATH", clients)
			return []string{test.PythonPeer(t, "numpy", "python3-numpy"), write("insitu.py", insituPython)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			command := program(t)
			if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil || len(out) > 0 {
				t.Fatalf("nobody asks for steps: %v %s", err, out)
			}
			steps := filepath.Join(t.TempDir(), "steps")
			out, err := meshOutput(t, append([]string{"--insitu", steps, "--"}, command...)...)
			if err != nil || !strings.Contains(out, "step 5: 12 cells, 3 variables") || !strings.Contains(out, "step 10: 12 cells, 3 variables") {
				t.Fatalf("%v: %s", err, out)
			}
			checkInSitu(t, samples, steps)
			if left, _ := filepath.Glob(filepath.Join(steps, ".step*")); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
			if out, err := meshOutput(t, append([]string{"--insitu", steps, "--"}, command...)...); err == nil || !strings.Contains(err.Error(), "holds 2 steps of an earlier run") {
				t.Errorf("a folder with steps: %v %s", err, out)
			}
		})
	}
	if out, err := meshOutput(t, "--insitu", filepath.Join(t.TempDir(), "s"), "--", "true"); err == nil || !strings.Contains(err.Error(), "handed no step over") {
		t.Errorf("a program without steps: %v %s", err, out)
	}
}

// buildInSitu compiles the program in C.
func buildInSitu(t *testing.T, program string) {
	t.Helper()
	source := filepath.Join(t.TempDir(), "insitu.c")
	if err := os.WriteFile(source, []byte(insituC), 0o600); err != nil {
		t.Fatal(err)
	}
	compile(t, test.Peer(t, "gcc", "gcc"), "-std=c99", "-D_POSIX_C_SOURCE=200112L", "-Wall", "-Wextra", "-Werror", "-I", filepath.Join(test.Root(), "clients"), source, "-o", program)
}

func compile(t *testing.T, compiler string, args ...string) {
	t.Helper()
	cmd := exec.Command(compiler, args...)
	cmd.Dir = t.TempDir() // Fortran leaves a module there
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func checkInSitu(t *testing.T, samples, steps string) {
	t.Helper()
	var info struct {
		Iterations []int64   `json:"iterations"`
		Times      []float64 `json:"times"`
		Dims       []int     `json:"dims"`
		Fields     []struct {
			Name, On string
			Min, Max float64
		} `json:"fields"`
	}
	out, err := meshOutput(t, "--insitu", steps, "--json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(out), &info); err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(info.Iterations, info.Times, info.Dims, info.Fields)
	if want := "[5 10] [1.25 2.5] [3 2 2]"; !strings.HasPrefix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
	for name, want := range map[string]string{"e": "cells 10 120", "t": "points 0 7"} {
		found := ""
		for _, f := range info.Fields {
			if f.Name == name {
				found = fmt.Sprint(f.On, " ", f.Min, " ", f.Max)
			}
		}
		if found != want {
			t.Errorf("%s: %q, want %q", name, found, want)
		}
	}
	out, err = meshOutput(t, samples, "--insitu", steps, "--mode", "only", "--json", "--values")
	if err != nil {
		t.Fatal(err)
	}
	var a struct {
		Dump   int64      `json:"dump"`
		Values []*float64 `json:"values"`
	}
	if err := json.Unmarshal([]byte(out), &a); err != nil || a.Dump != 10 || len(a.Values) != 12 || a.Values[11] == nil || *a.Values[11] != 40 || a.Values[0] != nil {
		t.Errorf("%v: %s; want 40, the mean of the samples since dump 5, in cell 11 alone", err, out)
	}
}
