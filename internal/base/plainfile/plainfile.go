// Package plainfile is the one way to open a file of data: it must be a plain
// one. Opening a pipe waits for somebody who writes to it, and a device has no
// end; a file from a stranger may be either, and so may a name that a folder of
// theirs holds.
package plainfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ErrNotPlain is returned for what is there and is no plain file, ErrTooLong for a
// file of more bytes than are allowed.
var (
	ErrNotPlain = errors.New("not a plain file")
	ErrTooLong  = errors.New("too long")
)

// Plain files do not care for O_NONBLOCK; a pipe opens at once with it.
const reading = os.O_RDONLY | syscall.O_NONBLOCK

// Open opens a plain file for reading.
func Open(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil { // else opening it says why
		if err := looksPlain(path, info); err != nil {
			return nil, err
		}
	}
	return plain(os.OpenFile(path, reading, 0))
}

// OpenIn is Open for a name in a folder, which does not lead out of it.
func OpenIn(root *os.Root, name string) (*os.File, error) {
	if info, err := root.Stat(name); err == nil {
		if err := looksPlain(filepath.Join(root.Name(), name), info); err != nil {
			return nil, err
		}
	}
	return plain(root.OpenFile(name, reading, 0))
}

// looksPlain refuses what is no plain file before it is opened: to open a device
// does something, and be it to rewind a tape.
func looksPlain(path string, info fs.FileInfo) error {
	if info.Mode().IsRegular() || info.Mode()&fs.ModeSocket != 0 {
		return nil
	}
	return notPlain(path, info)
}

func notPlain(path string, info fs.FileInfo) error {
	return fmt.Errorf("%s is %s: %w", path, sort(info.Mode()), ErrNotPlain)
}

// ReadFile reads a plain file. With most above 0, one of more bytes is refused.
func ReadFile(path string, most int64) ([]byte, error) { return read(Open(path))(most) }

// ReadFileIn is ReadFile for a name in a folder, which does not lead out of it.
func ReadFileIn(root *os.Root, name string, most int64) ([]byte, error) {
	return read(OpenIn(root, name))(most)
}

func read(f *os.File, err error) func(most int64) ([]byte, error) {
	return func(most int64) ([]byte, error) {
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if most <= 0 {
			return io.ReadAll(f)
		}
		// It may grow while it is read.
		text, err := io.ReadAll(io.LimitReader(f, most+1))
		if err == nil && int64(len(text)) > most {
			err = fmt.Errorf("%s has more than %d bytes: %w", f.Name(), most, ErrTooLong)
		}
		return text, err
	}
}

func plain(f *os.File, err error) (*os.File, error) {
	if errors.Is(err, syscall.ENXIO) { // what opening a socket gives
		var at *fs.PathError
		if errors.As(err, &at) {
			return nil, fmt.Errorf("%s is a socket: %w", at.Path, ErrNotPlain)
		}
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = notPlain(f.Name(), info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// sort says what there is in place of a plain file.
func sort(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe, which can be read only once; write it to a file, or give it as standard input where - is taken"
	}
	return "a device"
}
