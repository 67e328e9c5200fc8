package record

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/isobath/isobath/internal/code/perfevent"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/record/operand"
	"github.com/isobath/isobath/internal/record/pmu"
	"github.com/isobath/isobath/internal/record/sampler"
)

// journaled is a collector that writes to a folder of its own.
func journaled(t *testing.T) (*collector, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "a.isobath"+Unfinished)
	c := newCollector(&symbol.Files{})
	var err error
	if c.journal, err = newJournal(dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.journal.close)
	plan := pmu.Plan{Name: "PEBS", Events: []pmu.Event{{Name: "loads"}}}
	c.about = aboutOf(&Options{Command: []string{"app"}}, &plan, &workspace{absent: "a test"}, nil)
	c.journal.line(c.about)
	return c, dir
}

// hourOf64 is how many samples 64 CPUs give in an hour at the usual rate.
const hourOf64 = 64 * 3600 * 1000

// What the recorder holds of a sample while the program runs is on disk: an hour of
// 64 CPUs fits in 200 MB.
func TestRecorderMemory(t *testing.T) {
	c, _ := journaled(t)
	access, fault := &pmu.Event{Use: pmu.Access}, &pmu.Event{Use: pmu.Touch}
	give := func(n int) {
		for i := range n {
			s := perfevent.Sample{IP: 0x400000, Addr: 0x7f00 + uint64(i), Time: uint64(i), DataSrc: 0x10668100842, Weight: 60}
			c.Sample(access, &s)
			c.Sample(fault, &s)
			if i%1000 == 0 {
				c.Drained()
			}
		}
		c.Drained()
	}
	held := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	const n = 300_000
	give(n)
	before := held()
	give(n)
	grown := held() - before
	t.Logf("%d samples and touches: %d bytes more", n, grown)
	if grown*hourOf64/n > 200e6 {
		t.Errorf("%d samples hold %d bytes: an hour of 64 CPUs would hold %d MB", n, grown, grown*hourOf64/n/1e6)
	}
	runtime.KeepAlive(c)
}

// unfinishedRecording writes a small one, and returns its folder.
func unfinishedRecording(t *testing.T) string {
	c, dir := journaled(t)
	c.Comm(0, &perfevent.Comm{PID: 5, TID: 5, Name: "app", Exec: true})
	c.Mapping(1, &perfevent.Mapping{PID: 5, Start: 0x1000, Len: 0x1000, Name: "[heap]", Data: true})
	c.Fork(&perfevent.Task{PID: 6, PPID: 5, Time: 8})
	c.note(entry{Chain: []uint64{0x400010, 0x400020}})
	for i := range 20 {
		c.keep(&row{time: uint64(100 + i), pid: 5, tid: 5, ip: 0x400000, addr: 0x1008, hasAddr: true, stack: int32(i % 2)})
	}
	c.touched(&touch{time: 50, addr: 0x1008, pid: 5, tid: 5})
	c.Loss(&sampler.Loss{Time: 110, Records: 7})
	c.kernel = 3
	c.Drained()
	return dir
}

func TestRecover(t *testing.T) {
	dir := unfinishedRecording(t)
	for _, path := range []string{dir, strings.TrimSuffix(dir, Unfinished)} {
		if found, ok := UnfinishedAt(path); !ok || found != dir {
			t.Errorf("%s: %s, %v", path, found, ok)
		}
	}
	r, err := Recover(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	samples, d := r.Table("samples"), r.Recording
	if samples.Rows() != 20 || d.Samples != 20 || d.Kernel != 3 || d.Lost != 7 || d.Touches != 1 || d.Mode != "PEBS" || d.Ended != string(unfinished) {
		t.Errorf("%d rows, %+v", samples.Rows(), d)
	}
	if got := samples.Column("symbol").Text(0); got != "[heap]" {
		t.Errorf("object %q", got)
	}
	if !strings.Contains(strings.Join(r.Warnings, "\n"), "never finished") {
		t.Errorf("warnings %q", r.Warnings)
	}
}

// A recorder may be killed at any byte, and a file may be damaged.
func TestRecoverDamage(t *testing.T) {
	dir := unfinishedRecording(t)
	rows, events := filepath.Join(dir, rowsFile), filepath.Join(dir, eventsFile)
	whole, err := os.ReadFile(rows)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := os.ReadFile(events)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, b []byte) {
		if err := os.WriteFile(name, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	open := func() (int, error) {
		r, err := Recover(context.Background(), dir)
		if err != nil {
			return 0, err
		}
		return r.Table("samples").Rows(), nil
	}
	size := len(whole) / 20
	for _, tt := range []struct{ keep, want int }{{len(whole) - 1, 19}, {size, 1}, {size - 1, 0}, {0, 0}} {
		write(rows, whole[:tt.keep])
		if n, err := open(); err != nil || n != tt.want {
			t.Errorf("%d of %d bytes: %d rows, %v; want %d", tt.keep, len(whole), n, err, tt.want)
		}
	}
	write(rows, bytes.Repeat([]byte{0xff}, len(whole)))
	if n, err := open(); err != nil || n != 20 {
		t.Errorf("nonsense: %d rows, %v", n, err)
	}
	write(rows, whole)
	for keep := len(lines) - 1; keep > bytes.IndexByte(lines, '\n'); keep -= 7 {
		write(events, lines[:keep])
		if n, err := open(); err != nil || n != 20 {
			t.Errorf("%d of %d bytes of events: %d rows, %v", keep, len(lines), n, err)
		}
	}
	for _, bad := range []string{"", "{", "{}\n", "{\"version\":1}\n", string(lines) + "nonsense\n"} {
		write(events, []byte(bad))
		if n, err := open(); err == nil {
			t.Errorf("events %.40q: %d rows and no error", bad, n)
		}
	}
}

// Whatever a byte of a recording that was never finished becomes, it is opened or
// refused.
func TestRecoverAnyDamage(t *testing.T) {
	dir := unfinishedRecording(t)
	whole := map[string][]byte{}
	for _, name := range []string{eventsFile, rowsFile, touchesFile} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || len(text) == 0 {
			t.Fatalf("%s: %d bytes, %v", name, len(text), err)
		}
		whole[name] = text
	}
	r := rand.New(rand.NewPCG(1, 9))
	opened, tries := 0, 600
	if testing.Short() {
		tries = 150
	}
	for i := range tries {
		name := []string{eventsFile, rowsFile, touchesFile}[i%3]
		text := bytes.Clone(whole[name])
		for range 1 + r.IntN(4) {
			at := r.IntN(len(text))
			text[at] = []byte{0, 1, 0x7f, 0x80, 0xff, '9', '-', text[at] ^ 1<<r.IntN(8)}[r.IntN(8)]
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Recover(t.Context(), dir); err == nil {
			opened++
		}
		if err := os.WriteFile(filepath.Join(dir, name), whole[name], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if opened < tries/6 || opened == tries {
		t.Errorf("%d of %d damaged recordings are opened: the damage is of no use", opened, tries)
	}
}

// An unfinished recording may be a stranger's: nothing outside its folder is read
// but what this user's recorder made for it.
func TestRecoverStaysInside(t *testing.T) {
	marked := func(dir string) string {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "marks"), []byte("nonsense\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	for folder, read := range map[string]bool{
		marked(filepath.Join(t.TempDir(), workspacePrefix+"7-x")): true,
		marked(filepath.Join(t.TempDir(), "mine")):                false,
	} {
		c, dir := journaled(t)
		c.about.Heap = workspaceHead{Folder: folder}
		c.journal.close()
		text, err := json.Marshal(c.about)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, eventsFile), append(text, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Recover(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Join(r.Warnings, "\n")
		if got := strings.Contains(said, "marks of the program"); got != read || (r.Recording.Heap.Absent == "") != read {
			t.Errorf("%s: read %v, want %v; %q, %q", filepath.Base(folder), got, read, r.Recording.Heap.Absent, said)
		}
	}
	for _, name := range []string{eventsFile, rowsFile, touchesFile} {
		dir := unfinishedRecording(t)
		outside := filepath.Join(t.TempDir(), "x")
		if err := os.Rename(filepath.Join(dir, name), outside); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(outside, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		if _, err := Recover(t.Context(), dir); err == nil {
			t.Errorf("%s is read through a link that leads out", name)
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Recover(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "is a pipe") {
			t.Errorf("%s is a pipe: %v", name, err)
		}
	}
}

// Without room the journal ends; what came before is kept.
func TestJournalWithoutRoom(t *testing.T) {
	c, _ := journaled(t)
	c.keep(&row{time: 1, found: operand.Join})
	c.Drained()
	c.journal.rows.f.Close() // as a full disk: nothing can be written
	for i := range 3 {
		c.keep(&row{time: uint64(2 + i)})
		c.Drained()
	}
	if c.journal.err == nil || c.journal.dropped != 2 {
		t.Errorf("error %v, %d dropped; the first one fails and two are dropped", c.journal.err, c.journal.dropped)
	}
}
