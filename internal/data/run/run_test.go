package run

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/isobath/isobath/internal/data/kind"

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
	source := filepath.Join(t.TempDir(), "a.c")
	if err := os.WriteFile(source, []byte("int a;\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return &Run{
		Contents: []*table.Table{tab}, TopologyData: []byte("<x/>"), Tree: []byte(`{"a":1}`),
		Manifest: Manifest{Version: Version, Kind: kind.Samples, Format: "test", Topology: "hw.xml", Warnings: []string{"careful"},
			Sources: []SourceEntry{{Name: "../up/a.c", Found: "suffix"}, {Name: "gone.c", Found: "path"}}},
		SourceFiles: map[string]string{"../up/a.c": source, "gone.c": filepath.Join(t.TempDir(), "gone.c")},
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
	if strings.Contains(r.SourceFiles["../up/a.c"], "..") {
		t.Errorf("source kept outside the run: %s", r.SourceFiles["../up/a.c"])
	}
	if _, err := r.Source("gone.c"); err == nil {
		t.Error("a source that was not there is there")
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
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
	other := filepath.Join(t.TempDir(), "precious")
	os.Mkdir(other, 0o755)
	if err := example(t, 1).Write(t.Context(), other, true); err == nil {
		t.Error("a folder that is no run was replaced")
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
		cmd.Env = append(os.Environ(), "ISOBATH_TEST_WRITE="+path)
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
