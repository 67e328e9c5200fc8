package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
)

// pythonCommand runs Debian's Python with our package and this program.
func pythonCommand(t *testing.T, python string, args ...string) *exec.Cmd {
	t.Helper()
	isobath, err := exec.LookPath("isobath")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, args...)
	cmd.Env = append(os.Environ(), "ISOBATH="+isobath, "PYTHONDONTWRITEBYTECODE=1", "FIXTURES="+filepath.Dir(test.Fixture(t, "locality")),
		"PYTHONPATH="+filepath.Join(test.Root(), "clients", "python"), "HOME="+t.TempDir())
	return cmd
}

// TestPythonPackage runs the tests of clients/python.
func TestPythonPackage(t *testing.T) {
	if testing.Short() {
		t.Skip("left to the full tier, whose peers have NumPy and pandas")
	}
	python := test.PythonPeer(t, "numpy,pandas", "python3-pandas")
	out, err := pythonCommand(t, python, filepath.Join(test.Root(), "clients", "python", "tests", "test_isobath.py")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// TestNotebooks executes the notebooks of the guide: a cell that fails is an error.
func TestNotebooks(t *testing.T) {
	if testing.Short() {
		t.Skip("left to the full tier, whose peers have Jupyter")
	}
	python := test.PythonPeer(t, "nbconvert,ipykernel,pandas", "jupyter-nbconvert")
	notebooks, err := filepath.Glob(filepath.Join(test.Root(), "docs", "guide", "notebooks", "*.ipynb"))
	if err != nil || len(notebooks) < 2 {
		t.Fatalf("%d notebooks, %v", len(notebooks), err)
	}
	folder := t.TempDir()
	cmd := pythonCommand(t, python, append([]string{"-m", "nbconvert", "--to", "notebook", "--execute", "--output-dir", folder}, notebooks...)...)
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
