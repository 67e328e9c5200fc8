// SPDX-License-Identifier: Apache-2.0
// Copyright the Isobath authors

package mark_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestLicence holds that each file of the clients that people copy says whose it is and what
// they may do with it.
func TestLicence(t *testing.T) {
	var files []string
	for _, pattern := range []string{"../*.h", "../*.f90", "../*.py", "*.go"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v, %v", pattern, found, err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		head := strings.Join(strings.SplitN(string(text), "\n", 4)[:3], "\n")
		for _, want := range []string{"SPDX-License-Identifier: Apache-2.0", "Copyright the Isobath authors"} {
			if !strings.Contains(head, want) {
				t.Errorf("%s does not begin with %q", file, want)
			}
		}
	}
}

// TestMarkFromOutside builds a program of another module that imports the marks,
// with nothing to fetch: they need the standard library alone.
func TestMarkFromOutside(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.org/heat\n\ngo 1.26.0\n\nrequire github.com/isobath/isobath v0.1.0\n\n" +
			"replace github.com/isobath/isobath => " + root + "\n",
		"main.go": `package main

import "github.com/isobath/isobath/clients/mark"

func main() {
	u := make([]float64, 6)
	mark.Buffer("u", u, 3, 2)
	mark.State("iteration", 1)
}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	run := exec.Command("go", "run", ".")
	run.Dir = dir
	run.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=mod", "GOWORK=off")
	if out, err := run.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
	list := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".")
	list.Dir, list.Env = dir, run.Env
	out, err := list.Output()
	if got, want := strings.Fields(string(out)), "github.com/isobath/isobath/clients/mark example.org/heat"; err != nil || strings.Join(got, " ") != want {
		t.Errorf("the program needs %q (%v), want %q", got, err, want)
	}
}
