//go:build !arm64

package sampler

// Only ARM's unit stamps its records with a counter of its own.
func counter() uint64          { return 0 }
func counterFrequency() uint64 { return 0 }
