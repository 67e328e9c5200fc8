package heap

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/isobath/isobath/internal/base/plainfile"
)

// shared is where root keeps the library for programs that go on as another user: the
// dynamic linker complains in their output if it may not read it.
var shared = "/var/cache/isobath"

// forEverybody returns a file that every user may read, with the same bytes; the file
// itself if that cannot be had. Only root starts programs that become another user.
func forEverybody(file string) string {
	if os.Geteuid() != 0 || legible(file) {
		return file
	}
	b, err := plainfile.ReadFile(file, 0)
	if err != nil || os.MkdirAll(shared, 0o755) != nil {
		return file
	}
	out := filepath.Join(shared, filepath.Base(file))
	if there, err := plainfile.ReadFile(out, 0); err == nil && bytes.Equal(there, b) && legible(out) {
		return out
	}
	part, err := os.CreateTemp(shared, "part-*")
	if err != nil {
		return file
	}
	defer os.Remove(part.Name())
	_, err = part.Write(b)
	if part.Chmod(0o755) != nil || part.Close() != nil || err != nil || os.Rename(part.Name(), out) != nil || !legible(out) {
		return file
	}
	return out
}

// legible reports whether every user may read a file, and only root may change it or put
// another in its place, nor lead a link elsewhere: what a program of root's loads is as
// good as root.
func legible(file string) bool {
	info, err := os.Lstat(file)
	if err != nil || !ofRoot(info) || info.Mode().Perm()&0o024 != 0o004 {
		return false
	}
	for dir := filepath.Dir(file); ; dir = filepath.Dir(dir) {
		info, err := os.Lstat(dir)
		if err != nil || !ofRoot(info) || info.Mode().Perm()&0o001 == 0 || info.Mode().Perm()&0o022 != 0 && info.Mode()&fs.ModeSticky == 0 {
			return false // in a sticky folder, like /tmp, nobody changes what is another's
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}

func ofRoot(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Uid == 0
}
