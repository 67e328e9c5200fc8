// SPDX-License-Identifier: Apache-2.0
// Copyright the Isobath authors

package mark

import (
	"syscall"
	"unsafe"
)

// monotonic reads CLOCK_MONOTONIC, the clock of recordings. Package time does
// not show its reading.
func monotonic() int64 {
	var t syscall.Timespec
	const clockMonotonic = 1
	_, _, _ = syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&t)), 0)
	return t.Nano()
}
