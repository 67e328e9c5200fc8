package hw

// Amount is a number of one resource, worked out from samples.
type Amount struct {
	Number  float64
	Samples int // it rests on; without any there is no number
	// AtLeast is set where the number is only a lower bound.
	AtLeast bool
}

// Amounts are the numbers of all resources, in the placer's order: of the samples
// that belong to each (Tally.Passed) and of the part of them that it served.
type Amounts struct {
	Name           string // "mean of latency"
	Unit           string
	Passed, Served []Amount
}

// Serves reports whether samples can end at a resource: caches and memory. CPUs and
// what holds them only issue.
func (r *Resource) Serves() bool { return r.Kind >= NUMA && r.Kind < Core }

// Of returns what stands for a resource in a picture: what caches and memory
// served, what CPUs and what holds them issued.
func (a *Amounts) Of(r *Resource) Amount {
	if r.Serves() {
		return a.Served[r.Index]
	}
	return a.Passed[r.Index]
}
