package record

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/table"
)

func TestReadMarks(t *testing.T) {
	m, err := readMarks(strings.NewReader(`buffer 10 11 500 0x7f00 8 2 100 50 1 the field
state 10 11 600 3 iteration
word 10 11 601 0 phase=solve it
state 10 11 700 4.5 iteration
state 10 11 x 4 iteration
buffer 10 11 500 0x7f00 8 9 100 50 1 too many dimensions
nonsense
state 10 11`))
	if err != nil || m.damaged != 4 {
		t.Fatalf("%d damaged, %v", m.damaged, err)
	}
	if len(m.buffers) != 1 || m.buffers[0].name != "the field" || m.buffers[0].addr != 0x7f00 || len(m.buffers[0].dims) != 2 {
		t.Errorf("%+v", m.buffers)
	}
	rows := []row{{time: 550, pid: 10}, {time: 650, pid: 10}, {time: 650, pid: 99}, {time: 750, pid: 10}}
	columns := m.columns(rows, nil, []*table.Column{{Name: "phase"}})
	if len(columns) != 2 || columns[0].Name != "iteration" || columns[1].Name != "state_phase" {
		t.Fatalf("%+v", columns)
	}
	var got []string
	for i := range rows {
		got = append(got, columns[0].Text(i)+" "+columns[1].Text(i))
	}
	if text := strings.Join(got, "|"); text != " |3 solve it| |4.5 solve it" {
		t.Errorf("states %q", text)
	}
}

// A child begins with the state of its parent, a new program with none.
func TestStatesOfChildren(t *testing.T) {
	m, err := readMarks(strings.NewReader("state 1 1 10 3 iteration\nstate 1 1 30 4 iteration\nstate 2 2 40 9 iteration\n"))
	if err != nil {
		t.Fatal(err)
	}
	rows := []row{{time: 15, pid: 1}, {time: 25, pid: 2}, {time: 35, pid: 2}, {time: 36, pid: 1}, {time: 45, pid: 2}, {time: 46, pid: 3}, {time: 55, pid: 3}}
	births := []birth{{20, 2, 1}, {45, 3, 1}, {50, 3, newProgram}}
	column := m.columns(rows, births, nil)[0]
	var got []string
	for i := range rows {
		got = append(got, column.Text(i))
	}
	if text := strings.Join(got, "|"); text != "3|3|3|4|9|4|" {
		t.Errorf("states %q", text)
	}
}

func FuzzMarks(f *testing.F) {
	f.Add("buffer 10 11 500 0x7f00 8 2 100 50 1 name\nstate 1 2 3 4 x\nword 1 2 3 0 a=b\n")
	f.Add("buffer 1 1 1 1 18446744073709551615 3 18446744073709551615 2 2 n")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := readMarks(strings.NewReader(text))
		if err != nil {
			return
		}
		space := &symbol.Space{}
		m.name(symbol.NewObjects(space, &symbol.Files{}, nil))
		m.columns([]row{{time: 5, pid: 1}, {time: 1 << 62, pid: 10}}, nil, nil)
	})
}

const cMarks = `
#include "isobath.h"
int main(void) {
	static double u[6]; static float v[24];
	isobath_buffer1("u", u, sizeof u[0], 6);
	isobath_buffer3("v", v, sizeof v[0], 2, 3, 4);
	isobath_state("iteration", 7);
	isobath_phase("phase", "two words");
	return isobath_recording() ? 0 : 3;
}
`

const fortranMarks = `
program p
  use isobath
  implicit none
  real(8), allocatable, target :: u(:), v(:,:,:)
  allocate(u(6), v(2,3,4))
  call isobath_buffer('u', c_loc(u), 8, [6])
  call isobath_buffer('v', c_loc(v), 4, [2, 3, 4])
  call isobath_state('iteration', 7d0)
  call isobath_phase('phase', 'two words')
  if (.not. isobath_recording()) stop 3
end program p
`

const goMarks = `package main

import "github.com/isobath/isobath/clients/mark"

func main() {
	mark.Buffer("u", make([]float64, 6))
	mark.Buffer("v", make([]float32, 24), 2, 3, 4)
	mark.State("iteration", 7)
	mark.Phase("phase", "two words")
	if !mark.Recording() {
		panic("not recording")
	}
}
`

// The clients of all languages write what is read here.
func TestClients(t *testing.T) {
	root, dir := test.Root(), t.TempDir()
	clients := filepath.Join(root, "clients")
	for _, c := range []struct {
		name, tool, pkg, file, text string
		args                        []string
	}{
		{"C", "gcc", "gcc", "p.c", cMarks, []string{"-Wall", "-Wextra", "-Werror", "-I", clients, "p.c"}},
		{"C++", "g++", "g++", "p.cpp", cMarks, []string{"-Wall", "-Wextra", "-Werror", "-I", clients, "p.cpp"}},
		{"Fortran", "gfortran", "gfortran", "p.f90", fortranMarks, []string{"-Wall", "-Werror", "-J", dir, filepath.Join(clients, "isobath.f90"), "p.f90"}},
		{"Go", "go", "golang", "p.go", goMarks, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			tool := test.Peer(t, c.tool, c.pkg)
			if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
			program := filepath.Join(dir, "p"+strconv.Itoa(len(c.file)))
			cmd := exec.Command(tool, append([]string{"-o", program}, c.args...)...)
			cmd.Dir = dir
			if c.name == "Go" {
				cmd = exec.Command(tool, "build", "-o", program, filepath.Join(dir, c.file))
				cmd.Dir = root
			}
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			checkClient(t, program)
		})
	}
}

func checkClient(t *testing.T, program string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "marks")
	run := exec.Command(program)
	run.Env = append(os.Environ(), marksVariable+"="+file)
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := readMarks(f)
	if err != nil || m.damaged != 0 || len(m.buffers) != 2 || len(m.states) != 2 {
		t.Fatalf("%+v, %v", m, err)
	}
	u, v := m.buffers[0], m.buffers[1]
	if u.name != "u" || u.elem != 8 || len(u.dims) != 1 || u.dims[0] != 6 || u.addr == 0 || u.pid != run.Process.Pid || u.time == 0 {
		t.Errorf("%+v", u)
	}
	if v.name != "v" || v.elem != 4 || len(v.dims) != 3 || v.dims[0] != 2 || v.dims[2] != 4 {
		t.Errorf("%+v", v)
	}
	if s := m.states; s[0].name != "iteration" || s[0].value != 7 || s[1].name != "phase" || s[1].text != "two words" {
		t.Errorf("%+v", s)
	}
	// Without a recording nothing is written, and the program runs.
	plain := exec.Command(program)
	plain.Env = append(os.Environ(), marksVariable+"=")
	if err := plain.Run(); err == nil {
		t.Error("the program believes that it is being recorded")
	}
}
