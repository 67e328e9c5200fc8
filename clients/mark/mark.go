// SPDX-License-Identifier: Apache-2.0
// Copyright the Isobath authors

// Package mark tells Isobath what a Go program's buffers are and what it is
// doing. Under `isobath record` every call appends one line to a file;
// otherwise it does nothing.
//
//	u := make([]float64, nx*ny)
//	mark.Buffer("u", u, nx, ny) // x varies fastest
//	for it := range steps {
//		mark.State("iteration", float64(it))
package mark

import (
	"fmt"
	"os"
	"sync"
	"unsafe"
)

// file is where marks go; nil if the program is not being recorded.
var file = sync.OnceValue(func() *os.File {
	path := os.Getenv("ISOBATH_MARKS")
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil // a mark that is lost costs a name only
	}
	return f
})

// Recording reports whether the program is being recorded.
func Recording() bool { return file() != nil }

// Buffer names a slice of up to three dimensions, the fastest-varying extent
// first. Without extents it has one dimension.
func Buffer[T any](name string, s []T, extents ...int) {
	if !Recording() || len(s) == 0 {
		return
	}
	if len(extents) == 0 || len(extents) > 3 {
		extents = []int{len(s)}
	}
	d := [3]int{1, 1, 1}
	copy(d[:], extents)
	line("buffer", fmt.Sprintf("%#x %d %d %d %d %d %s", uintptr(unsafe.Pointer(unsafe.SliceData(s))), unsafe.Sizeof(s[0]), len(extents), d[0], d[1], d[2], name))
}

// State sets a state variable of the process: an iteration, a time, a
// coordinate. It becomes a column of the samples.
func State(name string, value float64) {
	if Recording() {
		line("state", fmt.Sprintf("%.17g %s", value, name))
	}
}

// Phase is State with a word for a value.
func Phase(name, word string) {
	if Recording() {
		line("word", "0 "+name+"="+word)
	}
}

func line(kind, rest string) {
	// One write: lines of several goroutines and processes do not mix.
	fmt.Fprintf(file(), "%s %d %d %d %s\n", kind, os.Getpid(), os.Getpid(), monotonic(), rest)
}
