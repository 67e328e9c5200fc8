//go:build !linux

package table

import "os"

// allocate makes a file so long, with room on the disk.
func allocate(f *os.File, size int64) error { return writeZeros(f, size) }
