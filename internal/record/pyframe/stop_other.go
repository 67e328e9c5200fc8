//go:build !linux || !amd64

package pyframe

// Supported reports whether threads can be looked at on this machine.
const Supported = false
