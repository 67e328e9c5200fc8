//go:build !linux

package kernel

// DefaultBudget is a guess where the system does not tell its memory.
func DefaultBudget() int64 { return 4 << 30 }
