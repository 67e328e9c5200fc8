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
