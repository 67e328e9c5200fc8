package record

import (
	"os"

	"golang.org/x/sys/unix"
)

// reservePlace takes place on the disk for a stretch of a file that is yet to be
// written.
func reservePlace(f *os.File, from, size int64) error {
	return unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, from, size)
}

// giveBack frees the place on the disk of a file's beginning, whose length stays:
// what lies before an offset then reads as zeros.
func giveBack(f *os.File, before int64) error {
	if before == 0 {
		return nil
	}
	return unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, before)
}

// firstKept is where a file begins whose beginning was given back.
func firstKept(f *os.File) int64 {
	at, err := unix.Seek(int(f.Fd()), 0, unix.SEEK_DATA)
	if err != nil {
		return 0 // it has no data, or a file system that does not tell
	}
	return at
}
