package test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// packedSet makes a folder of fixtures with one packed set, deep/set, and
// returns it.
func packedSet(t *testing.T, body string) string {
	t.Helper()
	root, from := t.TempDir(), filepath.Join(t.TempDir(), "set")
	for _, name := range []string{"b/c", "a"} {
		path := filepath.Join(from, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(body+name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := Pack(from, filepath.Join(root, "deep", "set"+Packed)); err != nil {
		t.Fatal(err)
	}
	return root
}

func TestFixturePackedSet(t *testing.T) {
	root := packedSet(t, "one ")
	var all sync.WaitGroup
	for range 8 { // as tests of several packages do
		all.Go(func() {
			for name, want := range map[string]string{"deep/set/a": "one a", "deep/set/b/c": "one b/c"} {
				path, err := fixture(root, name)
				if err != nil {
					t.Error(err)
					return
				}
				if got, err := os.ReadFile(path); err != nil || string(got) != want {
					t.Errorf("%s holds %q, %v; want %q", name, got, err, want)
				}
			}
		})
	}
	all.Wait()
	folder, err := fixture(root, "deep/set")
	if err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 2 {
		t.Errorf("%v, %v; want a and b", entries, err)
	}
	if parts, _ := filepath.Glob(filepath.Join(root, ".unpacked", "part-*")); parts != nil {
		t.Errorf("left behind: %v", parts)
	}
	for name, want := range map[string]string{"deep/set/x": "not in fixtures/deep/set", "deep/other": "no packed set", "../x": "below", "deep": "packed sets", ".": "packed sets"} {
		if path, err := fixture(root, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("fixture(%q) = %q, %v; want an error with %q", name, path, err, want)
		}
	}
}

// A new version of a set is not mistaken for the one that was unpacked before.
func TestFixtureVersions(t *testing.T) {
	one, two := packedSet(t, "one "), packedSet(t, "two ")
	archive := filepath.Join("deep", "set"+Packed)
	if _, err := fixture(one, "deep/set/a"); err != nil {
		t.Fatal(err)
	}
	newer, err := os.ReadFile(filepath.Join(two, archive))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(one, archive), newer, 0o666); err != nil {
		t.Fatal(err)
	}
	path, err := fixture(one, "deep/set/a")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "two a" {
		t.Errorf("%q, %v; want the newer version", got, err)
	}
}

func TestPackIsReproducible(t *testing.T) {
	archive := filepath.Join("deep", "set"+Packed)
	first, err := os.ReadFile(filepath.Join(packedSet(t, "one "), archive))
	if err != nil {
		t.Fatal(err)
	}
	second, err := os.ReadFile(filepath.Join(packedSet(t, "one "), archive))
	if err != nil || !bytes.Equal(first, second) {
		t.Errorf("the same files made archives of %d and %d bytes that differ (%v)", len(first), len(second), err)
	}
}

// TestFixturesStaySmall holds the size of what every clone carries.
func TestFixturesStaySmall(t *testing.T) {
	const most, mostEach = 12 << 20, 3 << 20
	root := filepath.Join(Root(), "fixtures")
	var sum int64
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == ".unpacked" {
				return filepath.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Size() > mostEach {
			t.Errorf("%s has %d bytes, at most %d", path, info.Size(), mostEach)
		}
		sum += info.Size()
		return nil
	})
	if err != nil || sum > most {
		t.Errorf("the fixtures have %d bytes, at most %d (%v)", sum, most, err)
	}
}
