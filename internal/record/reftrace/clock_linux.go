package reftrace

import "golang.org/x/sys/unix"

// clock reads CLOCK_MONOTONIC in nanoseconds.
func clock() uint64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return uint64(t.Nano())
}
