package heap

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"

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

// legible reports whether every user may read a file, in folders that only root changes
// or, like /tmp, where nobody changes what is another's.
func legible(file string) bool {
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm()&0o024 != 0o004 {
		return false
	}
	for dir := filepath.Dir(file); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm()&0o001 == 0 || info.Mode().Perm()&0o022 != 0 && info.Mode()&fs.ModeSticky == 0 {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}
