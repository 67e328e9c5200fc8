package server

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/base/test"
)

// A sparse file takes a few bytes in an archive and gigabytes unpacked.
func TestSparseUpload(t *testing.T) {
	tarProgram := test.Peer(t, "tar", "tar")
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "data", "hole"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, "data", "hole"), 4<<30); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(tarProgram, "--sparse", "--format=posix", "-cf", "data.tar", "-C", "data", ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	archive, err := os.ReadFile(filepath.Join(dir, "data.tar"))
	if err != nil || len(archive) > 1<<20 {
		t.Fatalf("an archive of %d bytes, %v", len(archive), err)
	}
	s := newTestServer(t, func(o *Options) { o.UploadLimit = 1 << 20 })
	w := do(s, "POST", "/api/v1/upload?name=data", string(archive), "Content-Type", frame.TypeTar)
	get[frame.Failure](t, w, http.StatusRequestEntityTooLarge)
	var left int64
	filepath.WalkDir(s.uploads.folder, func(_ string, d os.DirEntry, err error) error {
		if info, wrong := d.Info(); wrong == nil && info.Mode().IsRegular() {
			left += info.Size()
		}
		return err
	})
	if left != 0 {
		t.Errorf("%d bytes were left behind", left)
	}
}

// Where temporary files lie in memory, what is dropped draws on the budget.
func TestUploadIntoMemory(t *testing.T) {
	test.FilesInMemory(t)
	room := budget.New(1 << 20)
	s := newTestServer(t, func(o *Options) { o.Budget = room })
	w := do(s, "POST", "/api/v1/upload?name=data", strings.Repeat("x", 2<<20), "Content-Type", frame.TypeFile)
	if f := get[frame.Failure](t, w, http.StatusUnprocessableEntity); !strings.Contains(f.Error, "memory budget of 1 MiB") {
		t.Error(f.Error)
	}
	if room.Used() != 0 {
		t.Errorf("%d bytes are in use after a refusal", room.Used())
	}
	get[frame.Job](t, do(s, "POST", "/api/v1/upload?name=data", strings.Repeat("x", 1<<19), "Content-Type", frame.TypeFile), http.StatusAccepted)
	if room.Used() < 1<<19 {
		t.Errorf("%d bytes are in use", room.Used())
	}
	s.Close()
	if room.Used() != 0 {
		t.Errorf("%d bytes are in use after the server was closed", room.Used())
	}
}

func TestSelectionTextIsBounded(t *testing.T) {
	s := newTestServer(t, nil)
	for name, where := range map[string]string{
		"values":  "cpu in (" + strings.Repeat("1, ", 400_000) + "1)",
		"pattern": "file ~ \"" + strings.Repeat("(a|b)*", 400_000) + "\"",
	} {
		body := fmt.Sprintf(`{"where":%q,"axes":[{"column":"cpu"}]}`, where)
		f := get[frame.Failure](t, do(s, "POST", "/api/v1/runs/six/ask", body), http.StatusBadRequest)
		if !strings.Contains(f.Error, "at most 65536 bytes") || len(f.Error) > 500 {
			t.Errorf("%s: %.300s", name, f.Error)
		}
	}
}

// listening serves on loopback until the test ends.
func listening(t *testing.T, s *Server) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// A client that stops in the middle of its body is let go, and others are
// answered meanwhile.
func TestStalledBody(t *testing.T) {
	defer frame.SetPatience(100 * time.Millisecond)()
	s := newTestServer(t, nil)
	address := listening(t, s)
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "POST /api/v1/runs/six/ask HTTP/1.1\r\nHost: 127.0.0.1\r\n%s: %s\r\nContent-Length: 1000\r\n\r\n{", TokenHeader, testToken)
	_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
	if answer, err := io.ReadAll(c); err != nil { // the server closes what it gave up
		t.Errorf("%v, %.200q", err, answer)
	}
	get[frame.Info](t, do(s, "GET", "/api/v1/runs/six", ""), 200)
}

// Who says nothing, half a question, or something without the token is let go, and
// so is who has asked and then says nothing: connections are few.
func TestSilentConnections(t *testing.T) {
	s := newTestServer(t, nil)
	s.silence = silence{100 * time.Millisecond, 200 * time.Millisecond}
	address := listening(t, s)
	const question = "GET /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\n"
	for name, tt := range map[string]struct {
		said, want string
		refused    bool // at once, and the connection with it
	}{
		"nothing":        {"", "", false},
		"half a head":    {question, "", false},
		"one question":   {question + TokenHeader + ": " + testToken + "\r\n\r\n", "200 OK", false},
		"no token":       {question + "\r\n", "401 Unauthorized", true},
		"a foreign name": {strings.Replace(question, "127.0.0.1", "evil.example", 1) + "\r\n", "403 Forbidden", true},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			fmt.Fprint(c, tt.said)
			_ = c.SetReadDeadline(time.Now().Add(time.Minute))
			answer, err := io.ReadAll(c) // until the server closes it
			if err != nil || !strings.Contains(string(answer), tt.want) {
				t.Errorf("%v, %.200q", err, answer)
			}
			if closes := strings.Contains(string(answer), "Connection: close"); closes != tt.refused {
				t.Errorf("%.300q", answer)
			}
		})
	}
}

// No more connections are accepted than the cap, and each that closes makes room
// for one.
func TestConnectionsAreCapped(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := limited(inner, 2)
	accepted := make(chan net.Conn)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- c
		}
	}()
	var open []net.Conn
	for range 3 {
		c, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	for range 2 {
		open = append(open, <-accepted)
	}
	select {
	case <-accepted:
		t.Fatal("a third connection was accepted")
	case <-time.After(50 * time.Millisecond):
	}
	open[0].Close()
	open[0].Close() // twice frees one place only
	third := <-accepted
	third.Close()
	open[1].Close()
	l.Close()
	<-ended
}
