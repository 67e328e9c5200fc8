package scratch

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// dead is the number of a process that has ended.
func dead(t *testing.T) int {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid
}

// What a dead process left is swept, and nothing else.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	mark := func(pid int, set string) string { return fmt.Sprintf("%d-%s-ABCDEFGH23", pid, set) }
	gone, set := dead(t), processes()
	left := []string{"isobath-refs-" + mark(gone, set), ".isobath-mpi-" + mark(gone, set), ".run.isobath." + mark(gone, set) + ".tmp"}
	stay := []string{
		"isobath-refs-" + mark(os.Getpid(), set),
		"isobath-refs-" + mark(gone, "00000000"), // of another machine
		".run.isobath." + mark(gone, set) + ".tmp.old",
		"notes-" + mark(gone, set),
		"isobath-refs-1",
		".run.isobath.ABCDEFGH23.tmp",
		fmt.Sprintf("isobath-refs-%d", gone),
	}
	for i, name := range slices.Concat(left, stay) {
		path := filepath.Join(dir, name)
		if i%2 == 0 {
			if err := os.MkdirAll(filepath.Join(path, "inside"), 0o700); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	target := filepath.Join(t.TempDir(), "target")
	if err := os.WriteFile(target, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link := "isobath-link-" + mark(gone, set)
	if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
		t.Fatal(err)
	}
	Sweep(dir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	want := append(stay, link)
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("left are\n%s\nwant\n%s", strings.Join(names, "\n"), strings.Join(want, "\n"))
	}
}

// Every name that is given is one that a sweep knows, once its process is gone.
func TestNamesAreKnown(t *testing.T) {
	folder, err := Folder(t.TempDir(), "mpi")
	if err != nil {
		t.Fatal(err)
	}
	file, err := File(folder, "room")
	if err != nil {
		t.Fatal(err)
	}
	file.Close()
	for _, path := range []string{folder, file.Name(), place("", "refs"), Beside("/a/run.isobath"), Beside("/a/" + strings.Repeat("x", 255))} {
		name := filepath.Base(path)
		if !ours.MatchString(name) || len(name) > 255 {
			t.Errorf("%s is no name of ours, or too long", name)
		}
	}
}
