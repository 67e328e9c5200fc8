package parallel

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// ErrFileChanged says that a mapped file became shorter, or went away, while it
// was read: the system answers with a fault in place of bytes.
var ErrFileChanged = errors.New("the file changed while it was read: what was there is gone; open it again")

// recovered makes an error of what recover returned: of a fault in mapped memory
// ErrFileChanged, of anything else a Panic.
func recovered(v any) error {
	if fault, ok := v.(interface {
		error
		Addr() uintptr
	}); ok {
		return fmt.Errorf("%w (address %#x)", ErrFileChanged, fault.Addr())
	}
	return &Panic{v, debug.Stack()}
}

// catchFaults makes faults in mapped memory panics of this goroutine, which can
// be recovered from, until undo is called.
func catchFaults() (undo func()) {
	before := debug.SetPanicOnFault(true)
	return func() { debug.SetPanicOnFault(before) }
}
