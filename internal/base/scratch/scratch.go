// Package scratch makes temporary files and folders whose names say which process
// made them, so that what a killed one left behind is swept by the next.
package scratch

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
)

// Folder makes a folder that only its owner enters in parent, which is the
// system's folder for temporary files if it is empty, and sweeps there.
func Folder(parent, purpose string) (string, error) {
	path := place(parent, purpose)
	return path, os.Mkdir(path, 0o700)
}

// File makes a file that only its owner reads, and sweeps beside it.
func File(parent, purpose string) (*os.File, error) {
	return os.OpenFile(place(parent, purpose), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

// place is a fresh name; among files of the user's it is hidden.
func place(parent, purpose string) string {
	hidden := "."
	if parent == "" {
		parent, hidden = os.TempDir(), ""
	}
	Sweep(parent)
	return filepath.Join(parent, hidden+"isobath-"+purpose+"-"+mark())
}

// mark is a name that no other has and that tells its process.
func mark() string { return fmt.Sprintf("%d-%s-%s", os.Getpid(), processes(), rand.Text()[:10]) }

// Beside is a hidden name beside path for what will be renamed to it.
func Beside(path string) string {
	base := filepath.Base(path)
	return filepath.Join(filepath.Dir(path), "."+base[:min(len(base), longestBase)]+"."+mark()+".tmp")
}

// longestBase leaves room for a mark in the 255 bytes of a name.
const longestBase = 200

// processes tells apart sets of processes that do not see each other: those of
// another machine that shares the folder, or of another container. Numbers of
// processes mean nothing across them.
func processes() string {
	host, _ := os.Hostname()
	space, _ := os.Readlink("/proc/self/ns/pid")
	sum := sha256.Sum256([]byte(host + "\n" + space))
	return hex.EncodeToString(sum[:4])
}

// ours are the names that place and Beside give.
var ours = regexp.MustCompile(`^(?:\.?isobath-[a-z]+-|\..+\.)(\d+)-([0-9a-f]{8})-[A-Z2-7]{10}(?:\.tmp)?$`)

// Sweep removes from a folder what processes of this user made and left there
// when they were killed. Whatever cannot be read or removed stays.
func Sweep(folder string) { remove(folder, gone) }

// Leave removes from the folder for temporary files what this process made there
// and still has, when it ends.
func Leave() {
	own := strconv.Itoa(os.Getpid())
	remove(os.TempDir(), func(pid string) bool { return pid == own })
}

// remove removes what processes made whose number is one to remove.
func remove(folder string, chosen func(pid string) bool) {
	dir, err := os.Open(folder)
	if err != nil {
		return
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if !strings.Contains(name, "-"+processes()+"-") {
			continue
		}
		if m := ours.FindStringSubmatch(name); m != nil && m[2] == processes() && chosen(m[1]) && mine(filepath.Join(folder, name)) {
			_ = os.RemoveAll(filepath.Join(folder, name))
		}
	}
}

// gone reports whether there is no process of that number.
func gone(pid string) bool {
	n, err := strconv.Atoi(pid)
	return err == nil && n > 0 && errors.Is(syscall.Kill(n, 0), syscall.ESRCH)
}

// mine reports whether a file or folder, not a link, belongs to this user.
func mine(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink != 0 {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
