package server

import (
	"context"
	"crypto/rand"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestListenUnix(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := Listen(Address{Listen: "unix:" + path})
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 || info.Mode()&os.ModeSocket == 0 {
		t.Errorf("mode %v, want a socket of 0600", info.Mode())
	}
	if _, err := Listen(Address{Listen: "unix:" + path}); err == nil || !strings.Contains(err.Error(), "listens on") {
		t.Errorf("a second server on the same socket: %v", err)
	}

	s := newTestServer(t, nil)
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error)
	go func() { served <- s.Serve(ctx, l) }()
	client := http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return net.Dial("unix", path)
	}}}
	r, err := client.Get("http://localhost:7117/")
	if err != nil || r.StatusCode != 200 {
		t.Errorf("GET / through the socket: %v, %v", r, err)
	}
	r.Body.Close()
	stop()
	if err := <-served; err != nil {
		t.Errorf("serve: %v", err)
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("the socket is left behind")
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}

	if err := os.WriteFile(path, []byte("data"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(Address{Listen: "unix:" + path}); err == nil || !strings.Contains(err.Error(), "not a socket") {
		t.Errorf("a plain file in the way: %v", err)
	}
}

func TestListenPort(t *testing.T) {
	first, err := Listen(Address{Port: FreePort})
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	port := first.Addr().(*net.TCPAddr).Port
	if !first.Addr().(*net.TCPAddr).IP.IsLoopback() {
		t.Errorf("listens on %v", first.Addr())
	}
	if _, err := Listen(Address{Port: port}); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a taken port gives %v", err)
	}
	a, err := Listen(Address{})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := Listen(Address{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if a.Addr().String() == b.Addr().String() {
		t.Error("two servers share an address")
	}
}

func TestLines(t *testing.T) {
	l, err := Listen(Address{Port: FreePort})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	env := map[string]string{"SLURM_JOB_ID": "7", "SLURM_SUBMIT_HOST": "login3"}
	url, lines := Lines(l, "TOKEN", func(k string) string { return env[k] })
	if want := "http://127.0.0.1:" + port + "/#k=TOKEN"; url != want {
		t.Errorf("address %s, want %s", url, want)
	}
	if !strings.HasPrefix(lines[1], "remote  ssh -N -L "+port+":127.0.0.1:"+port+" -J ") || !strings.Contains(lines[1], "@login3 ") {
		t.Errorf("ssh line %q", lines[1])
	}
	for _, a := range []struct{ listen, host string }{
		{"0.0.0.0:1", ""}, {"127.0.0.1:1", ""}, {"unix:/x", ""}, {"10.1.2.3:1", "10.1.2.3"}, {"lab:1", "lab"},
	} {
		if got := (Address{Listen: a.listen}).Host(); got != a.host {
			t.Errorf("host of %s is %q, want %q", a.listen, got, a.host)
		}
	}
}

func TestTokenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	token, err := TokenFile(path)
	if err != nil || len(token) != len(rand.Text()) {
		t.Fatalf("new file: %q, %v", token, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if again, err := TokenFile(path); err != nil || again != token {
		t.Errorf("read again: %q, %v", again, err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := TokenFile(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a file that others read: %v", err)
	}
	for _, bad := range []string{"", "short", "two words of a token", "0123456789abcdef&x=1"} {
		p := filepath.Join(t.TempDir(), "t")
		if err := os.WriteFile(p, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if token, err := TokenFile(p); err == nil {
			t.Errorf("%q is taken as token %q", bad, token)
		}
	}
	if a, b := rand.Text(), rand.Text(); a == b {
		t.Error("two tokens are equal")
	}
}

func TestRedirect(t *testing.T) {
	text := redirect(`http://127.0.0.1:1/#k=a"b<c`)
	if strings.Contains(text, `a"b`) || strings.Contains(text, "<c") {
		t.Errorf("not escaped: %s", text)
	}
	env := map[string]string{"DISPLAY": ":0"}
	get := func(k string) string { return env[k] }
	if !WantBrowser(get) {
		t.Error("no browser although there is a display")
	}
	env["SSH_CONNECTION"] = "1.2.3.4 5 6.7.8.9 22"
	if WantBrowser(get) {
		t.Error("a browser over ssh")
	}
}
