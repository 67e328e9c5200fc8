package reftrace

import (
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/isobath/isobath/internal/base/scratch"
)

// counter is a number that the program can read: how many references it has
// made. The file has the place of the number that recorders inside a program use.
type counter struct {
	file string
	page []byte
}

// counterAt is where the number is in the page; see c/buffer.c.
const counterAt = 16

func newCounter(dir string) (*counter, error) {
	f, err := scratch.File(dir, "count")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := f.Truncate(pluginHead); err != nil {
		return nil, err
	}
	page, err := unix.Mmap(int(f.Fd()), 0, pluginHead, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", f.Name(), err)
	}
	return &counter{f.Name(), page}, nil
}

// set is seen by the program at once: both have the same page.
func (c *counter) set(n uint64) {
	atomic.StoreUint64((*uint64)(unsafe.Pointer(&c.page[counterAt])), n)
}

func (c *counter) close() {
	unix.Munmap(c.page)
	os.Remove(c.file)
}
