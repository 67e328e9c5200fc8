package run

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/data/source"
	"github.com/isobath/isobath/internal/data/table"
)

// example is a run of n rows in memory, with a source file on disk.
func example(t testing.TB, n int) *Run {
	t.Helper()
	values := make([]int64, n)
	for i := range values {
		values[i] = int64(i)
	}
	tab, err := table.New("samples", []*table.Column{table.Ints("cpu", "", table.Measured, values, nil)})
	if err != nil {
		t.Fatal(err)
	}
	sources := t.TempDir()
	if err := os.WriteFile(filepath.Join(sources, "a.c"), []byte("int a;\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return &Run{
		Contents: []*table.Table{tab}, TopologyData: []byte("<x/>"), Tree: []byte(`{"a":1}`),
		Manifest: Manifest{Version: Version, Kind: kind.Samples, Format: "test", Topology: "hw.xml", Warnings: []string{"careful"},
			Sources: []SourceEntry{{Name: "../up/a.c", Found: "suffix"}, {Name: "gone.c", Found: "path"}}},
		SourceFiles: map[string]source.File{"../up/a.c": {Root: sources, Name: "a.c"}, "gone.c": {Root: sources, Name: "gone.c"}},
	}
}

func TestRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x"+Suffix)
	if err := example(t, 10).Write(t.Context(), path, false); err != nil {
		t.Fatal(err)
	}
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Table("samples").Rows() != 10 || string(r.TopologyData) != "<x/>" || string(r.Tree) != `{"a":1}` || r.Warnings[0] != "careful" {
		t.Errorf("read back: %+v", r)
	}
	if body, err := r.Source("../up/a.c"); err != nil || string(body) != "int a;\n" {
		t.Errorf("source: %q, %v", body, err)
	}
	if strings.Contains(r.SourceFiles["../up/a.c"].Path(), "..") {
		t.Errorf("source kept outside the run: %s", r.SourceFiles["../up/a.c"])
	}
	if _, err := r.Source("gone.c"); err == nil {
		t.Error("a source that was not there is there")
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Whoever makes a run, the command lines in it have no secrets.
func TestNoSecretsAreWritten(t *testing.T) {
	r := example(t, 1)
	secret := []string{"solve", "--password", "hunter2", "API_TOKEN=hunter2"}
	r.Origin.Command = secret
	given := &Trial{Commands: [][]string{secret, secret}}
	r.Recording = &Recording{Trial: given}
	path := filepath.Join(t.TempDir(), "x"+Suffix)
	if err := r.Write(t.Context(), path, false); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(path, manifestFile))
	if err != nil || strings.Contains(string(text), "hunter2") || strings.Count(string(text), `"--password"`) != 3 {
		t.Errorf("%v\n%s", err, text)
	}
	if given.Commands[1][2] != "hunter2" || secret[2] != "hunter2" {
		t.Error("what was given is changed")
	}
}

func TestReplace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x"+Suffix)
	if err := example(t, 10).Write(t.Context(), path, false); err != nil {
		t.Fatal(err)
	}
	if err := example(t, 20).Write(t.Context(), path, false); err == nil || !strings.Contains(err.Error(), "--force") {
		t.Fatalf("an existing run was replaced without being asked: %v", err)
	}
	if err := example(t, 20).Write(t.Context(), path, true); err != nil {
		t.Fatal(err)
	}
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Contents[0].Rows() != 20 {
		t.Errorf("%d rows", r.Contents[0].Rows())
	}
	// Folders of others, some of which have a file of that name, too.
	for i, text := range []string{"", "{}", `{"manifest_version":3,"name":"x","version":"1.0"}`, `{"version":1}`, `{"version":1,"kind":"app","format":"x"}`, "not JSON"} {
		other := filepath.Join(t.TempDir(), "precious"+strconv.Itoa(i))
		os.Mkdir(other, 0o755)
		os.WriteFile(filepath.Join(other, "work.txt"), []byte("years"), 0o644)
		if text != "" {
			os.WriteFile(filepath.Join(other, manifestFile), []byte(text), 0o644)
		}
		if err := example(t, 1).Write(t.Context(), other, true); err == nil {
			t.Errorf("a folder with the manifest %q was replaced", text)
		}
		if _, err := os.Stat(filepath.Join(other, "work.txt")); err != nil {
			t.Error(err)
		}
	}
}

// TestKilled writes runs in another process that is killed at odd moments:
// either there is no run, or a whole one.
func TestKilled(t *testing.T) {
	if path := os.Getenv("ISOBATH_TEST_WRITE"); path != "" {
		r := example(t, 2_000_000)
		fmt.Println("writing")
		r.Write(t.Context(), path, false)
		return
	}
	whole := 0
	for i := range 12 {
		path := filepath.Join(t.TempDir(), fmt.Sprintf("k%d%s", i, Suffix))
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
		// Who is killed removes no temporary files: they lie in a folder of this test's.
		cmd.Env = append(os.Environ(), "ISOBATH_TEST_WRITE="+path, "TMPDIR="+t.TempDir())
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// The moments count from when it begins, however long that takes.
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(time.Duration(i*i*2)*time.Millisecond, func() { cmd.Process.Kill() })
		cmd.Wait()
		timer.Stop()
		if _, err := os.Stat(path); err != nil {
			continue
		}
		r, err := Open(path)
		if err != nil {
			t.Fatalf("killed after %d ms: half a run: %v", i*i*2, err)
		}
		whole++
		r.Close()
	}
	t.Logf("%d of 12 finished before they were killed", whole)
}

func TestTwoReaders(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x"+Suffix)
	if err := example(t, 1000).Write(t.Context(), path, false); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			r, err := Open(path)
			if err != nil {
				t.Error(err)
				return
			}
			defer r.Close()
			sum := 0.0
			for i := range 1000 {
				sum += r.Contents[0].Column("cpu").Float(i)
			}
			if sum != 499500 {
				t.Errorf("sum %v", sum)
			}
		})
	}
	wg.Wait()
}

func TestSelections(t *testing.T) {
	r := example(t, 1)
	if err := r.SaveSelections(map[string]string{"a": "cpu = 1"}); err == nil {
		t.Error("a run in memory kept selections")
	}
	if err := r.Write(t.Context(), filepath.Join(t.TempDir(), "x"+Suffix), false); err != nil {
		t.Fatal(err)
	}
	if err := r.SaveSelections(map[string]string{"slow": "cpu > 1"}); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Selections(); err != nil || got["slow"] != "cpu > 1" {
		t.Errorf("selections %v, %v", got, err)
	}
}

func TestManifestsThatLeadOut(t *testing.T) {
	for _, text := range []string{
		`{"version":1,"tables":[{"name":"s","file":"../../etc/passwd","rows":1}]}`,
		`{"version":1,"tables":[{"name":"s","file":"/etc/passwd","rows":1}]}`,
		`{"version":1,"tables":[{"name":"s","file":"s.arrow","rows":-1}]}`,
		`{"version":1,"topology":"../x.xml"}`,
		`{"version":1,"sources":[{"name":"a","file":"../../a"}]}`,
		`{"version":0}`, `{"version":2}`, `nonsense`,
	} {
		if _, err := parseManifest([]byte(text)); err == nil {
			t.Errorf("accepted: %s", text)
		}
	}
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"version":1,"kind":"samples","tables":[{"name":"samples","file":"samples.arrow","rows":3}],"topology":"topology.xml","sources":[{"name":"a.c","file":"a.c"}]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		m, err := parseManifest(in)
		if err != nil {
			return
		}
		for _, e := range m.Tables {
			if !filepath.IsLocal(e.File) {
				t.Fatalf("table file %q leads out of the run", e.File)
			}
		}
	})
}

// A run from a stranger may hold links to files of whoever opens it: what they
// lead to is neither read nor written to.
func TestLinksOutOfARun(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "id_rsa.c")
	if err := os.WriteFile(secret, []byte("SECRET"), 0o600); err != nil {
		t.Fatal(err)
	}
	made := func() string {
		path := filepath.Join(t.TempDir(), "x"+Suffix)
		if err := example(t, 10).Write(t.Context(), path, false); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link := func(path, name, to string) {
		t.Helper()
		file := filepath.Join(path, name)
		if err := os.RemoveAll(file); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, file); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"topology.xml", treeFile, namesFile, manifestFile} {
		path := made()
		link(path, name, secret)
		if r, err := Open(path); err == nil {
			t.Errorf("%s is read through a link: %q %q %q", name, r.TopologyData, r.Tree, r.Names)
			r.Close()
		}
	}
	// One source file, and the whole folder of them.
	for name, to := range map[string]string{"sources/up/a.c": secret, "sources": filepath.Dir(secret)} {
		path := made()
		link(path, name, to)
		if name == "sources" {
			if err := os.MkdirAll(filepath.Join(filepath.Dir(secret), "up"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Link(secret, filepath.Join(filepath.Dir(secret), "up", "a.c")); err != nil {
				t.Fatal(err)
			}
		}
		r, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := r.Source("../up/a.c"); err == nil {
			t.Errorf("%s: a source is read through a link: %q", name, text)
		}
		again := filepath.Join(t.TempDir(), "again"+Suffix)
		if err := r.Write(t.Context(), again, false); err != nil {
			t.Fatal(err)
		}
		if copied, err := os.ReadFile(filepath.Join(again, "sources", "up", "a.c")); err == nil {
			t.Errorf("%s: %q was copied", name, copied)
		}
		r.Close()
	}
	path := made()
	link(path, selectionFile, secret)
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if named, err := r.Selections(); err == nil {
		t.Errorf("selections %v through a link", named)
	}
	if err := r.SaveSelections(map[string]string{"a": "cpu = 1"}); err == nil {
		t.Error("selections were written through a link")
	}
	if text, _ := os.ReadFile(secret); string(text) != "SECRET" {
		t.Errorf("the file outside is now %q", text)
	}
}
