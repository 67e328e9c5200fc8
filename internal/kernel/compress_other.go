//go:build !amd64

package kernel

var hasCompress = false

func compress8(dst, src *uint8, words *uint64, n int)   { panic("not on this processor") }
func compress16(dst, src *uint16, words *uint64, n int) { panic("not on this processor") }
func compress32(dst, src *uint32, words *uint64, n int) { panic("not on this processor") }
