package mesh

// FewSamples are so few that one more sample moves a mean visibly; cells with fewer are
// drawn striped, and counted.
const FewSamples = 5

// Few counts the cells whose value rests on samples, but on fewer than some number.
// Counts and sums are what they are however few samples make them; changes of them,
// and what they are per access, are not.
func (f *Field) Few(than int) int {
	if !f.Uncertain() {
		return 0
	}
	n := 0
	for _, s := range f.Samples {
		if s > 0 && int(s) < than {
			n++
		}
	}
	return n
}

// Uncertain reports whether few samples make a value of the field uncertain.
func (f *Field) Uncertain() bool {
	return f.Samples != nil && (f.Changed || f.Spec.PerAccess || f.Spec.Aggregate != Count && f.Spec.Aggregate != Sum)
}
