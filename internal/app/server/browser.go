package server

import (
	"context"
	"errors"
	"fmt"
	"html"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/isobath/isobath/internal/base/parallel"
	"github.com/isobath/isobath/internal/base/scratch"
	"github.com/isobath/isobath/internal/base/wholefile"
)

// WantBrowser reports whether there is a screen on which a browser would appear
// in front of the user. env is os.Getenv.
func WantBrowser(env func(string) string) bool {
	if env("SSH_CONNECTION") != "" {
		return false
	}
	switch runtime.GOOS {
	case "darwin", "windows":
		return true
	}
	return env("DISPLAY") != "" || env("WAYLAND_DISPLAY") != ""
}

// OpenBrowser shows the address in the user's browser. The address holds the
// token, and arguments of processes are visible to other users, so the browser
// is given a file that only its owner can read and that leads to the address.
// The caller removes the returned folder when the server ends.
func OpenBrowser(url string) (folder string, err error) {
	folder, err = scratch.Folder("", "open")
	if err != nil {
		return "", err
	}
	file := filepath.Join(folder, "isobath.html")
	if err := wholefile.WriteBytes(file, wholefile.New|wholefile.Private, []byte(redirect(url))); err != nil {
		return folder, err
	}
	name, args := opener()
	cmd := exec.Command(name, append(args, file)...)
	if err := cmd.Start(); err != nil {
		return folder, fmt.Errorf("no browser could be started: %w", err)
	}
	// Only to let the system forget the process: nobody waits for a browser.
	parallel.Start(context.Background(), func(context.Context) error { return cmd.Wait() })
	return folder, nil
}

func redirect(url string) string {
	u := html.EscapeString(url)
	return "<!doctype html><meta charset=utf-8><title>Isobath</title>" +
		`<meta http-equiv="refresh" content="0; url=` + u + `"><a href="` + u + `">Open Isobath</a>` + "\n"
}

func opener() (name string, args []string) {
	switch runtime.GOOS {
	case "darwin":
		return "open", nil
	case "windows":
		return "rundll32", []string{"url.dll,FileProtocolHandler"}
	}
	for _, name := range []string{"xdg-open", "sensible-browser", "x-www-browser", "firefox", "chromium"} {
		if _, err := exec.LookPath(name); !errors.Is(err, exec.ErrNotFound) {
			return name, nil
		}
	}
	return "xdg-open", nil
}
