//go:build !amd64

package kernel

// Without vectors the plain loops are used, and none of these is called.
var hasCompress, hasVectors bool

func compress8(dst, src *uint8, words *uint64, n int)   { panic("not on this processor") }
func compress16(dst, src *uint16, words *uint64, n int) { panic("not on this processor") }
func compress32(dst, src *uint32, words *uint64, n int) { panic("not on this processor") }

func compare8(out *uint64, codes *uint8, n int, from, length uint8) { panic("not on this processor") }

func sum8(t *packed, groups *uint8, values *uint32, n int)   { panic("not on this processor") }
func sum16(t *packed, groups *uint16, values *uint32, n int) { panic("not on this processor") }
