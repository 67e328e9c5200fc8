package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestReleasesAreEqual makes a release for this platform twice, in two folders, and
// compares every file; then the other programs read what was made.
func TestReleasesAreEqual(t *testing.T) {
	if os.Getenv("ISOBATH_DIST") == "" {
		t.Skip("links the program four times; 'make dist-twice' runs it")
	}
	folders := [2]string{t.TempDir(), filepath.Join(t.TempDir(), "another", "folder")}
	for _, out := range folders {
		r := release{root: "../..", out: out, version: "v1.2.3"}
		if err := r.make(t.Context(), []string{"linux/" + runtime.GOARCH}); err != nil {
			t.Fatal(err)
		}
	}
	base := "isobath-linux-" + runtime.GOARCH
	names := []string{base, base + ".cdx.json", base + ".tar.gz", base + ".deb", base + ".rpm", "SHA256SUMS"}
	for _, name := range names {
		first, err := os.ReadFile(filepath.Join(folders[0], name))
		if err != nil {
			t.Fatal(err)
		}
		second, err := os.ReadFile(filepath.Join(folders[1], name))
		if err != nil || !bytes.Equal(first, second) {
			t.Errorf("%s differs between two builds (%v)", name, err)
		}
	}
	head, err := exec.Command("git", "-C", "../..", "log", "-1", "--format=%H %ct").Output()
	if err != nil {
		t.Fatal(err)
	}
	var revision string
	var seconds int64
	if _, err := fmt.Sscan(string(head), &revision, &seconds); err != nil {
		t.Fatal(err)
	}
	checkRead(t, folders[0], base, revision, time.Unix(seconds, 0).UTC().Format(time.RFC3339))
	checkComponents(t, filepath.Join(folders[0], base+".cdx.json"))
}

// TestArchivesAreEqual is the share of it in make test: an archive of the same
// files, made at another time in another folder, has the same bytes.
func TestArchivesAreEqual(t *testing.T) {
	var made [2][]byte
	for i := range made {
		folder := t.TempDir()
		r := release{version: "v1.2.3", when: time.Unix(1_700_000_000, 0).UTC(), shared: filepath.Join(folder, "shared")}
		for name, text := range map[string]string{"LICENSE": "free", "man/isobath.1": ".TH", "completions/_isobath": "#"} {
			if err := write(filepath.Join(r.shared, name), []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		binary := filepath.Join(folder, "isobath")
		if err := write(binary, []byte("program")); err != nil {
			t.Fatal(err)
		}
		old := time.Unix(int64(i)*1000, 0)
		if err := os.Chtimes(binary, old, old); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, "a.tar.gz")
		if err := r.archive(binary, path); err != nil {
			t.Fatal(err)
		}
		var err error
		if made[i], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(made[0], made[1]) {
		t.Errorf("archives of %d and %d bytes differ", len(made[0]), len(made[1]))
	}
}

// A package has what the guide tells people to compile, and no tests of it.
func TestPackagesHaveWhatProgramsNeed(t *testing.T) {
	r := release{root: "../..", shared: t.TempDir()}
	names, err := r.forPrograms(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := write(filepath.Join(r.shared, name), nil); err != nil {
			t.Fatal(err)
		}
	}
	list, err := r.contents("isobath")
	if err != nil {
		t.Fatal(err)
	}
	places := map[string]bool{}
	for _, c := range list {
		places[c.To] = true
		if strings.Contains(c.To, "test") {
			t.Errorf("%s is packed", c.To)
		}
	}
	for _, want := range []string{"clients/isobath.h", "clients/isobath.f90", "clients/python/isobath/run.py", "clients/paraview_isobath.py", "examples/record/matmul.c", "examples/locality/pic.c"} {
		if !places["/usr/share/isobath/"+want] {
			t.Errorf("%s is missing", want)
		}
	}
}

// checkRead asks the programs that users install with what they see.
func checkRead(t *testing.T, folder, base, revision, date string) {
	t.Helper()
	wanted := []string{"usr/share/isobath/clients/isobath.h", "usr/share/isobath/examples/record/matmul.c", "usr/bin/isobath", "usr/share/man/man1/isobath-report.1", "bash-completion/completions/isobath"}
	for _, c := range []struct {
		command string
		want    []string
	}{
		{"sha256sum -c SHA256SUMS", []string{base + ".rpm: OK"}},
		{"tar tzf " + base + ".tar.gz", []string{"isobath-1.2.3/isobath", "isobath-1.2.3/man/isobath.1", "isobath-1.2.3/completions/_isobath", "isobath-1.2.3/LICENSE", "isobath-1.2.3/clients/isobath.h", "isobath-1.2.3/examples/record/matmul.c"}},
		{"dpkg-deb -c " + base + ".deb", wanted},
		{"dpkg-deb -f " + base + ".deb Version", []string{"1.2.3"}},
		{"rpm -qpl " + base + ".rpm", wanted},
		{"rpm -qp --qf %{VERSION} " + base + ".rpm", []string{"1.2.3"}},
		{"./" + base + " version --json", []string{`"version": "v1.2.3"`, `"revision": "` + revision + `"`, `"date": "` + date + `"`}},
	} {
		words := strings.Fields(c.command)
		if _, err := exec.LookPath(words[0]); err != nil && os.Getenv("ISOBATH_PEERS") != "require" && !strings.Contains(words[0], "/") {
			t.Logf("%s is not installed", words[0])
			continue
		}
		cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
		cmd.Dir = folder
		out, err := cmd.CombinedOutput()
		for _, want := range c.want {
			if err != nil || !strings.Contains(string(out), want) {
				t.Errorf("%s: %v, no %q in %.2000s", c.command, err, want, out)
			}
		}
	}
}

// checkComponents holds that the list is what `go version -m` says.
func checkComponents(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var b bill
	if err := json.Unmarshal(text, &b); err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, c := range b.Components {
		listed[c.Name+"@"+c.Version] = true
	}
	out, err := exec.Command("go", "version", "-m", strings.TrimSuffix(path, ".cdx.json")).Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := 0
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		if len(words) >= 3 && words[0] == "dep" {
			modules++
			if !listed[words[1]+"@"+words[2]] {
				t.Errorf("%s %s is not listed", words[1], words[2])
			}
		}
	}
	if modules < 10 || b.Format != "CycloneDX" || !listed["svelte@"+versionOf(b, "svelte")] {
		t.Errorf("%d modules, format %q", modules, b.Format)
	}
}

func versionOf(b bill, name string) string {
	for _, c := range b.Components {
		if c.Name == name {
			return c.Version
		}
	}
	return "none"
}

func TestPackageVersion(t *testing.T) {
	for version, want := range map[string]string{"v1.2.3": "1.2.3", "v1.2.3-4-gabc": "1.2.3+4+gabc", "4193377": "0~4193377", "devel": "0~devel", "v": "0~v"} {
		if got := packageVersion(version); got != want {
			t.Errorf("%s: %s, want %s", version, got, want)
		}
	}
}
