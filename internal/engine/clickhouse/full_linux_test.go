package clickhouse

import (
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/isobath/isobath/internal/engine/clickhouse/clickhousetest"
	"github.com/isobath/isobath/internal/engine/query/enginetest"
)

// smallDisk puts the tables of a server, which has none yet, on a file system of 32 MB.
func smallDisk(t *testing.T, server *clickhousetest.Server) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("a small file system can be mounted by root only")
	}
	server.Kill()
	work := server.Data()
	if err := os.RemoveAll(work); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", work, "tmpfs", 0, "size=32m"); err != nil {
		t.Skipf("no small file system can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		server.Kill()
		if err := syscall.Unmount(work, 0); err != nil {
			t.Error(err)
		}
	})
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
}

// filler takes the room of a file system, but for some bytes.
func filler(t *testing.T, folder string, room int64) (remove func()) {
	t.Helper()
	f, err := os.Create(filepath.Join(folder, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 20; size > 0; size /= 2 {
		for {
			if _, err := f.Write(make([]byte, size)); err != nil {
				break
			}
		}
	}
	if size, err := f.Seek(0, io.SeekEnd); err != nil || f.Truncate(size-room) != nil {
		t.Fatalf("a filler of %d bytes cannot be made %d bytes shorter: %v", size, room, err)
	}
	return func() {
		if err := os.Remove(f.Name()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFullDisk imports while the disk of a server is full, or fills: the error says so
// and names the server, runs that were there answer as before, also the one that was to
// be replaced, and when there is room again the same import holds each row once.
func TestFullDisk(t *testing.T) {
	servers := clickhousetest.Start(t, 2)
	for _, server := range servers {
		smallDisk(t, server)
	}
	s := dial(t, servers[0].Address(""))
	d := enginetest.Data(rand.New(rand.NewPCG(1, 2)), 2000)
	e := stored(t, s, "kept", d)
	before, err := e.Answer(t.Context(), question)
	if err != nil {
		t.Fatal(err)
	}
	larger := enginetest.Data(rand.New(rand.NewPCG(3, 4)), 20_000)
	for _, full := range []struct {
		what   string
		server *clickhousetest.Server
		room   int64
		after  bool // the rows are there
	}{
		{"no table can be made", servers[1], 0, false},
		{"room for some columns", servers[1], 200 << 10, false},
		{"nothing can be committed", servers[0], 0, true},
	} {
		for _, run := range []string{"new", "kept"} {
			remove := func() {}
			if !full.after {
				remove = filler(t, full.server.Data(), full.room)
			}
			_, err := s.Store(t.Context(), run, contents(larger), Import{Force: true, BlockRows: 500, Progress: func(int64, int64, int64) {
				if full.after {
					remove = filler(t, full.server.Data(), full.room)
				}
			}})
			if err == nil || !strings.Contains(err.Error(), full.server.Host()+": its disk has no room left") {
				t.Errorf("%s: import of %s: got %v, want that the disk of %s has no room", full.what, run, err, full.server.Host())
			}
			if d, err := s.find(t.Context(), "new"); err != nil || d != nil {
				t.Errorf("%s: half a run can be opened (%v)", full.what, err)
			}
			a, err := e.Answer(t.Context(), question)
			if err != nil {
				t.Fatalf("%s: the run that was there: %v", full.what, err)
			}
			if diff := enginetest.Diff(d, question, before, a); diff != "" {
				t.Errorf("%s: %s", full.what, diff)
			}
			remove()
		}
	}
	for _, run := range []string{"new", "kept"} {
		if _, err := s.Store(t.Context(), run, contents(larger), Import{Force: true}); err != nil {
			t.Fatal(err)
		}
		if err := s.checkRows(t.Context(), storedDocument(t, s, run)); err != nil {
			t.Errorf("%s, with room again: %v", run, err)
		}
	}
	for _, server := range servers { // nothing of those that failed
		left, err := server.Do(t.Context(), "SELECT count() FROM system.tables WHERE name LIKE 'isobath_%_rows'")
		if err != nil || strings.TrimSpace(left) != "2" {
			t.Errorf("%s keeps %s tables of rows (%v), want 2", server.Host(), strings.TrimSpace(left), err)
		}
	}
}
