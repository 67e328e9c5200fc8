package plainfile

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// What is no plain file is not even opened: a device may begin to do something.
func TestNotOpened(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	watch, err := syscall.InotifyInit1(syscall.IN_NONBLOCK)
	if err != nil {
		t.Skip(err)
	}
	defer syscall.Close(watch)
	if _, err := syscall.InotifyAddWatch(watch, pipe, syscall.IN_OPEN); err != nil {
		t.Fatal(err)
	}
	opened := func() bool {
		_, err := syscall.Read(watch, make([]byte, 4096))
		return !errors.Is(err, syscall.EAGAIN)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if _, err := Open(pipe); err == nil || opened() {
		t.Errorf("a pipe is opened, %v", err)
	}
	if _, err := OpenIn(root, "pipe"); err == nil || opened() {
		t.Errorf("a pipe in a folder is opened, %v", err)
	}
	f, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil || !opened() {
		t.Fatalf("it would not be seen: %v", err)
	}
	f.Close()
}
