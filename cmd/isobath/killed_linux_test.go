package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/isobath/isobath/internal/app/server"
	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/record"
)

// victim is a command that is killed, with folders of its own for what it writes
// and for temporary files.
type victim struct {
	t                *testing.T
	isobath          string
	work, tmp, input string
}

func newVictim(t *testing.T, work string) *victim {
	t.Helper()
	isobath, err := exec.LookPath("isobath")
	if err != nil {
		t.Fatal(err)
	}
	v := &victim{t: t, isobath: isobath, work: work, tmp: t.TempDir(), input: t.TempDir()}
	var text strings.Builder
	text.WriteString("time,cpu,addr,latency,function\n")
	for i := range 100_000 {
		fmt.Fprintf(&text, "%d,%d,0x%x,%d,f%d\n", i, i%8, i*64, i%300, i%50)
	}
	for _, name := range []string{"a.csv", "b.csv"} {
		if err := os.WriteFile(filepath.Join(v.input, name), []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(v.input, "small.csv"), []byte("cpu,latency\n1,2\n3,4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return v
}

func (v *victim) command(args ...string) *exec.Cmd {
	cmd := exec.Command(v.isobath, args...)
	cmd.Dir = v.work
	cmd.Env = append(os.Environ(), "TMPDIR="+v.tmp, "HOME="+v.tmp, "XDG_CACHE_HOME="+v.input, "XDG_CONFIG_HOME="+v.input)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// within runs a command, and kills it and what it started after a while; it
// reports whether it was done before.
func (v *victim) within(d time.Duration, args ...string) bool {
	v.t.Helper()
	cmd := v.command(args...)
	if err := cmd.Start(); err != nil {
		v.t.Fatal(err)
	}
	timer := time.AfterFunc(d, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	err := cmd.Wait()
	timer.Stop()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // a recorded program that goes on
	return err == nil
}

// whole opens a run and looks at every column; it is false if there is none.
func (v *victim) whole(name string) (rows int, ok bool) {
	v.t.Helper()
	path := filepath.Join(v.work, name)
	if _, err := os.Lstat(path); err != nil {
		return 0, false
	}
	r, err := run.Open(path)
	if err != nil {
		v.t.Fatalf("half a run: %v", err)
	}
	defer r.Close()
	for _, c := range r.Contents[0].Columns() {
		table.Summarize(c)
	}
	return r.Contents[0].Rows(), true
}

// journal is what a killed recording leaves on purpose.
const journal = "out.isobath" + record.Unfinished

// nothingLeft starts once more, and then finds only what was asked for.
func (v *victim) nothingLeft(allowed ...string) {
	v.t.Helper()
	const next = "next.isobath"
	if out, err := v.command("import", filepath.Join(v.input, "small.csv"), "-o", next).CombinedOutput(); err != nil {
		v.t.Fatalf("the next start: %v\n%s", err, out)
	}
	if err := os.RemoveAll(filepath.Join(v.work, next)); err != nil {
		v.t.Fatal(err)
	}
	for _, folder := range []string{v.work, v.tmp} {
		entries, err := os.ReadDir(folder)
		if err != nil {
			v.t.Fatal(err)
		}
		for _, e := range entries {
			kept := strings.HasPrefix(e.Name(), "isobath-record-") && slices.Contains(allowed, journal) // what a recording can be recovered from
			if !slices.Contains(allowed, e.Name()) && !kept {
				v.t.Errorf("%s was left behind", e.Name())
			}
		}
	}
}

// kills is how often each command is killed: make kills sets it, make test has a
// share.
func kills(t *testing.T) int {
	text := os.Getenv("ISOBATH_KILLS")
	if text == "" {
		return 3
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("ISOBATH_KILLS: %v", err)
	}
	return n
}

// moment is when a command that takes that long is killed: at any time, and now
// and then not at all.
func moment(took time.Duration) time.Duration {
	return time.Duration(rand.Float64() * 1.2 * float64(took))
}

// TestKilledCommands kills imports, merges and recordings at any moment:
// what they said is done is there, nothing is half, and nothing stays behind.
func TestKilledCommands(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	v := newVictim(t, t.TempDir())
	a, b, small := filepath.Join(v.input, "a.csv"), filepath.Join(v.input, "b.csv"), filepath.Join(v.input, "small.csv")
	const out = "out.isobath"
	for _, c := range []struct {
		name string
		rows int // of a whole run; 0: it depends
		over bool
		args []string
	}{
		{"import", 100_000, false, []string{"import", a, "-o", out}},
		{"import over another", 100_000, true, []string{"import", a, "--force", "-o", out}},
		{"merge", 200_000, false, []string{"import", a, b, "-o", out}},
		{"record", 0, false, []string{"record", "--rate", "200", "-o", out, "--", "sh", "-c", "i=0; while [ $i -lt 10000 ]; do i=$((i+1)); done"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v.t = t
			_ = os.RemoveAll(filepath.Join(v.work, out))
			began := time.Now()
			if !v.within(time.Minute, c.args...) {
				t.Fatalf("%s cannot be done at all", c.name)
			}
			took := time.Since(began)
			finished := 0
			for range kills(t) {
				_ = os.RemoveAll(filepath.Join(v.work, out))
				_ = os.RemoveAll(filepath.Join(v.work, journal))
				if c.over && !v.within(time.Minute, "import", small, "-o", out) {
					t.Fatal("the run to replace cannot be made")
				}
				done := v.within(moment(took), c.args...)
				rows, there := v.whole(out)
				switch {
				case done && (!there || c.rows > 0 && rows != c.rows):
					t.Errorf("it was done, and there are %d rows", rows)
				case c.over && rows != 2 && rows != c.rows:
					t.Errorf("%d rows are neither the old nor the new", rows)
				case there && !c.over && c.rows > 0 && rows != c.rows:
					t.Errorf("%d rows", rows)
				}
				if done {
					finished++
				}
				if c.name == "record" {
					v.nothingLeft(out, journal)
				} else {
					v.nothingLeft(out)
				}
			}
			t.Logf("%d of %d finished; one takes %v", finished, kills(t), took)
		})
	}
}

// page is a server on a run, as a page sees it.
type page struct {
	cmd         *exec.Cmd
	base, token string
}

func (v *victim) serve(name string) *page {
	v.t.Helper()
	cmd := v.command("open", "--no-browser", "--port", "0", name)
	out, err := cmd.StdoutPipe()
	if err != nil {
		v.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		v.t.Fatal(err)
	}
	p := &page{cmd: cmd}
	v.t.Cleanup(p.kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		v.t.Fatalf("no address: %v", err)
	}
	u, err := url.Parse(strings.TrimSpace(line))
	if err != nil {
		v.t.Fatal(err)
	}
	fragment, err := url.ParseQuery(u.Fragment)
	if err != nil || fragment.Get("k") == "" {
		v.t.Fatal("the address has no token")
	}
	p.token, p.base = fragment.Get("k"), "http://"+u.Host+"/api/v1/"
	return p
}

func (p *page) kill() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	_ = p.cmd.Wait()
}

func (p *page) do(method, path, body string, into any) (status int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, p.base+path, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	r.Header.Set(server.TokenHeader, p.token)
	w, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return 0, err
	}
	defer w.Body.Close()
	text, err := io.ReadAll(w.Body)
	if err == nil && into != nil {
		err = json.Unmarshal(text, into)
	}
	return w.StatusCode, err
}

func (p *page) run(t *testing.T) string {
	t.Helper()
	var home frame.Home
	if status, err := p.do("GET", "runs", "", &home); err != nil || len(home.Runs) != 1 {
		t.Fatalf("%d runs, %d, %v", len(home.Runs), status, err)
	}
	return home.Runs[0].ID
}

// number is what edit n wrote, from either of the two things that are edited.
func (p *page) number(t *testing.T, id string) (selection, name int) {
	t.Helper()
	var list []frame.NamedSelection
	if status, err := p.do("GET", "runs/"+id+"/selections", "", &list); err != nil || status != http.StatusOK {
		t.Fatalf("half a list of selections: %d, %v", status, err)
	}
	if len(list) > 0 {
		if _, err := fmt.Sscanf(list[0].Name, "edit %d", &selection); err != nil {
			t.Fatalf("%q: %v", list[0].Name, err)
		}
	}
	var names struct{ Text string }
	if status, err := p.do("GET", "runs/"+id+"/names", "", &names); err != nil || status != http.StatusOK {
		t.Fatalf("half a text of names: %d, %v", status, err)
	}
	if names.Text != "" {
		if _, err := fmt.Sscanf(names.Text, `object "x" is n%d`, &name); err != nil {
			t.Fatalf("%q: %v", names.Text, err)
		}
	}
	return selection, name
}

// TestKilledEdits kills the server while a page edits names and selections: the
// last edit that was answered is there, or the one that was under way.
func TestKilledEdits(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	v := newVictim(t, t.TempDir())
	const out = "out.isobath"
	if !v.within(time.Minute, "import", filepath.Join(v.input, "small.csv"), "-o", out) {
		t.Fatal("no run to edit")
	}
	edit, acknowledged := 0, [2]int{}
	for range kills(t) {
		p := v.serve(out)
		id := p.run(t)
		selection, name := p.number(t, id)
		if selection < acknowledged[0] || selection > edit || name < acknowledged[1] || name > edit {
			t.Errorf("edits %d and %d are there; answered were %v, begun %d", selection, name, acknowledged, edit)
		}
		timer := time.AfterFunc(moment(300*time.Millisecond), func() { _ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) })
		for {
			edit++
			body := fmt.Sprintf(`[{"name":"edit %d","where":"cpu = 1"}]`, edit)
			if status, err := p.do("PUT", "runs/"+id+"/selections", body, nil); err != nil {
				break
			} else if status != http.StatusOK {
				t.Fatalf("selections: %d", status)
			}
			acknowledged[0] = edit
			if status, err := p.do("PUT", "runs/"+id+"/names", fmt.Sprintf(`{"text":"object \"x\" is n%d"}`, edit), nil); err != nil {
				break
			} else if status != http.StatusOK {
				t.Fatalf("names: %d", status)
			}
			acknowledged[1] = edit
		}
		timer.Stop()
		p.kill()
	}
	v.nothingLeft(out)
	p := v.serve(out)
	id := p.run(t)
	for path, body := range map[string]string{"selections": "[]", "names": `{"text":""}`} {
		if status, err := p.do("PUT", "runs/"+id+"/"+path, body, nil); err != nil || status != http.StatusOK {
			t.Fatal(status, err)
		}
	}
	left, err := filepath.Glob(filepath.Join(v.work, out, ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left in the run: %v, %v", left, err)
	}
	t.Logf("%d edits, the last answered %v", edit, acknowledged)
}

// TestDiskFull writes to a file system that has no room: nothing is half, what was
// there stays, and the sentence says why.
func TestDiskFull(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	if os.Geteuid() != 0 {
		t.Skip("a small file system can be mounted by root only")
	}
	work := t.TempDir()
	if err := syscall.Mount("tmpfs", work, "tmpfs", 0, "size=512k"); err != nil {
		t.Skipf("no small file system can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(work, 0); err != nil {
			t.Error(err)
		}
	})
	v := newVictim(t, work)
	a, small := filepath.Join(v.input, "a.csv"), filepath.Join(v.input, "small.csv")
	const kept = "kept.isobath"
	if out, err := v.command("import", small, "-o", kept).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, args := range map[string][]string{
		"import":              {"import", a, "-o", "out.isobath"},
		"import over another": {"import", a, "--force", "-o", kept},
		"merge":               {"import", a, filepath.Join(v.input, "b.csv"), "-o", "out.isobath"},
		"export":              {"export", a, "-o", "out.csv"},
		"record":              {"record", "-o", "out.isobath", "--", "true"},
	} {
		out, err := v.command(args...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "no space left") {
			t.Errorf("%s: %v, %s", name, err, out)
		}
		if rows, _ := v.whole(kept); rows != 2 {
			t.Errorf("%s: what was there has %d rows", name, rows)
		}
		v.nothingLeft(kept)
	}
	editsOnFullDisk(t, v, kept)
}

// editsOnFullDisk fills the rest of the file system and edits.
func editsOnFullDisk(t *testing.T, v *victim, kept string) {
	p := v.serve(kept)
	defer p.kill()
	id := p.run(t)
	if status, err := p.do("PUT", "runs/"+id+"/selections", `[{"name":"edit 1","where":"cpu = 1"}]`, nil); err != nil || status != http.StatusOK {
		t.Fatal(status, err)
	}
	f, err := os.Create(filepath.Join(v.work, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := f.Write(make([]byte, 4096)); err != nil {
			break
		}
	}
	f.Close()
	var why frame.Failure
	long := strings.Repeat("x", 8000)
	status, err := p.do("PUT", "runs/"+id+"/selections", fmt.Sprintf(`[{"name":"edit 2","where":"function = \"%s\" | cpu = 1"}]`, long), &why)
	if err != nil || status < 400 || why.Error == "" {
		t.Errorf("an edit on a full disk: %d %+v, %v", status, why, err)
	}
	if selection, _ := p.number(t, id); selection != 1 {
		t.Errorf("edit %d is there", selection)
	}
	if err := os.Remove(f.Name()); err != nil {
		t.Fatal(err)
	}
	if got := p.cmd.ProcessState; got != nil {
		t.Errorf("the server ended: %v", got)
	}
	if left, _ := filepath.Glob(filepath.Join(v.work, kept, ".*")); len(left) > 0 {
		t.Errorf("left in the run: %v", left)
	}
}
