package sampler

// counter reads the counter that SPE stamps its records with, which programs may
// read too.
func counter() uint64

// counterFrequency is how often it ticks in a second.
func counterFrequency() uint64
