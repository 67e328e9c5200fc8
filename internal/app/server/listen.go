package server

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// DefaultPort is tried first, so that a tunnel set up once keeps working.
const DefaultPort = 7117

// Address says where to listen. The zero value is any free port of loopback
// from DefaultPort on.
type Address struct {
	Listen string // host:port, or unix:PATH
	Port   int    // of loopback; FreePort: any
}

// FreePort asks for a port that is free.
const FreePort = -1

// Listen opens the listener that will serve: a port that was found free and
// closed again could be taken by someone else.
func Listen(a Address) (net.Listener, error) {
	if path, ok := strings.CutPrefix(a.Listen, "unix:"); ok {
		return listenUnix(path)
	}
	if a.Listen != "" {
		return listenTCP(a.Listen)
	}
	if a.Port == FreePort {
		return listenTCP("127.0.0.1:0")
	}
	if a.Port != 0 {
		return listenTCP(net.JoinHostPort("127.0.0.1", strconv.Itoa(a.Port)))
	}
	for port := DefaultPort; port < DefaultPort+100; port++ {
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err == nil || !errors.Is(err, syscall.EADDRINUSE) {
			return l, err
		}
	}
	return listenTCP("127.0.0.1:0")
}

func listenTCP(address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s is in use by another program; leave --port away to take the next free one", address)
	}
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	return l, nil
}

// maxSocketPath is what struct sockaddr_un of unix(7) holds, less a final zero.
const maxSocketPath = 107

// listenUnix makes a socket that only its owner can connect to. A socket left by
// a server that has ended is replaced; one that answers is not.
func listenUnix(path string) (net.Listener, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case info.Mode()&os.ModeSocket == 0:
		return nil, fmt.Errorf("%s exists and is not a socket; choose another path for --socket", path)
	default:
		if c, err := net.Dial("unix", path); err == nil {
			c.Close()
			return nil, fmt.Errorf("a server listens on %s already", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	// The mode must be right from the moment the socket can be reached, so it
	// is made in a folder that nobody else can enter and moved from there.
	dir, err := os.MkdirTemp(filepath.Dir(path), ".isobath-")
	if err != nil {
		return nil, fmt.Errorf("socket %s: %w", path, err)
	}
	defer os.RemoveAll(dir)
	private := filepath.Join(dir, "s")
	if len(private) > maxSocketPath {
		return nil, fmt.Errorf("the path %s is too long for a socket; choose one of at most %d bytes", path, len(path)-len(private)+maxSocketPath)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: private, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("socket %s: %w", path, err)
	}
	l.SetUnlinkOnClose(false)
	if err := errors.Join(os.Chmod(private, 0o600), os.Rename(private, path)); err != nil {
		l.Close()
		return nil, fmt.Errorf("socket %s: %w", path, err)
	}
	return &unixListener{l, path}, nil
}

// unixListener removes its socket when it is closed.
type unixListener struct {
	*net.UnixListener
	path string
}

func (l *unixListener) Close() error {
	err := l.UnixListener.Close()
	os.Remove(l.path)
	return err
}

func (l *unixListener) Addr() net.Addr { return &net.UnixAddr{Name: l.path, Net: "unix"} }

// Host returns the host name that a listener was given, if it is one that
// others may use as is: neither loopback nor a wildcard.
func (a Address) Host() string {
	host, _, err := net.SplitHostPort(a.Listen)
	ip := net.ParseIP(host)
	if err != nil || strings.HasPrefix(a.Listen, "unix:") || host == "" || ip != nil && (ip.IsUnspecified() || ip.IsLoopback()) {
		return ""
	}
	return host
}

// Local reports whether only this machine reaches the listener.
func Local(l net.Listener) bool {
	tcp, ok := l.Addr().(*net.TCPAddr)
	return !ok || tcp.IP.IsLoopback()
}

// Lines returns what to print about a listener: the address to open, and the
// command that makes it reachable from another machine. env is os.Getenv.
func Lines(l net.Listener, token string, env func(string) string) (url string, lines []string) {
	ssh := sshTarget(env)
	if u, ok := l.Addr().(*net.UnixAddr); ok {
		url = fmt.Sprintf("http://127.0.0.1:%d/#k=%s", DefaultPort, token)
		return url, []string{
			"socket  " + u.Name,
			fmt.Sprintf("remote  ssh -N -L %d:%s %s", DefaultPort, u.Name, ssh),
			"open    " + url + "      through the tunnel",
		}
	}
	tcp := l.Addr().(*net.TCPAddr)
	host, port := "127.0.0.1", strconv.Itoa(tcp.Port)
	switch {
	case tcp.IP.IsUnspecified():
		host = hostname()
	case !tcp.IP.IsLoopback() || tcp.IP.To4() == nil:
		host = tcp.IP.String()
	}
	url = fmt.Sprintf("http://%s/#k=%s", net.JoinHostPort(host, port), token)
	lines = []string{"open    " + url}
	if tcp.IP.IsLoopback() {
		lines = append(lines, fmt.Sprintf("remote  ssh -N -L %s:%s %s      then open the address above", port, net.JoinHostPort(host, port), ssh))
	}
	return url, lines
}

// sshTarget is how ssh reaches this machine. A compute node is reached through
// the login node that the job was started from.
func sshTarget(env func(string) string) string {
	name := "USER"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	target := name + "@" + hostname()
	if env("SLURM_JOB_ID") == "" {
		return target
	}
	login := env("SLURM_SUBMIT_HOST")
	if login == "" {
		login = "LOGIN"
	}
	return "-J " + name + "@" + login + " " + target
}
