//go:build unix

package table

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

func mmap(f *os.File, size int64) ([]byte, func() error, error) {
	return mapShared(f, size, unix.PROT_READ)
}

// mmapEditable is mmap for a file whose contents are changed in memory.
func mmapEditable(f *os.File, size int64) ([]byte, func() error, error) {
	return mapShared(f, size, unix.PROT_READ|unix.PROT_WRITE)
}

func mapShared(f *os.File, size int64, protection int) ([]byte, func() error, error) {
	data, err := unix.Mmap(int(f.Fd()), 0, int(size), protection, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, fmt.Errorf("map %s: %w", f.Name(), err)
	}
	return data, func() error { return unix.Munmap(data) }, nil
}

// anonymous maps zeros of no file, read-only: untouched and read pages are all
// the same one.
func anonymous(size int) ([]byte, func() error, error) {
	data, err := unix.Mmap(-1, 0, size, unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, nil, fmt.Errorf("map %d bytes: %w", size, err)
	}
	return data, func() error { return unix.Munmap(data) }, nil
}

// release lets the system take back the pages of a mapping of a file.
func release(data []byte) { _ = unix.Madvise(data, unix.MADV_DONTNEED) }
