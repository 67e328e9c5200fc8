package mesh

import "slices"

// Separation says how the differences between cells divide into physics, placement and
// communication. Each subject stands for itself with the variable that explains most.
type Separation struct {
	Cells    int             `json:"cells"`
	Subjects []SubjectsShare `json:"subjects"`
	Together float64         `json:"together"` // what all of them explain
	// Common is what more than one of them explains: owners that lie where the physics
	// differs, so that nobody can tell from this run which of the two it is.
	Common float64 `json:"common"`
}

// SubjectsShare is one subject's part.
type SubjectsShare struct {
	Subject  Subject `json:"subject"`
	Variable string  `json:"variable"`
	Alone    float64 `json:"alone"` // what it explains by itself
	Own      float64 `json:"own"`   // what only it explains, of all of them
}

// candidate is the variable of a subject that explains most.
type candidate struct {
	CellVariable
	share  float64
	values []float64
}

// Cells there must be for each combination of parts, so that its mean says something;
// and into how many parts a variable is cut at most, and at least.
const (
	cellsPerPart = 5
	mostParts    = 64
	leastParts   = 2
)

// separate compares what subjects explain together with what all but one of them do.
// Nil where fewer than two explain anything, or cells are too few to tell them apart.
func separate(f *Field, k int, best map[Subject]*candidate) *Separation {
	var list []*candidate
	for _, s := range []Subject{OfPhysics, OfPlacement, OfCommunication} {
		if c := best[s]; c != nil {
			list = append(list, c)
		}
	}
	if len(list) < 2 {
		return nil
	}
	var perf []float64
	values := make([][]float64, len(list))
	for c, v := range f.Values {
		if !finite(v) || int(f.Samples[c]) < k || slices.ContainsFunc(list, func(l *candidate) bool { return !finite(l.values[c]) }) {
			continue
		}
		perf = append(perf, v)
		for i, l := range list {
			values[i] = append(values[i], l.values[c])
		}
	}
	parts := coarse(values, len(perf))
	if parts == nil {
		return nil
	}
	all := make([]bool, len(list))
	for i := range all {
		all[i] = true
	}
	share := func(taken []bool) float64 {
		s, _ := epsilonSquared(perf, crossed(parts, taken))
		return max(0, s)
	}
	out := &Separation{Cells: len(perf), Together: share(all)}
	out.Common = out.Together
	for i, c := range list {
		alone, without := make([]bool, len(list)), slices.Clone(all)
		alone[i], without[i] = true, false
		own := max(0, out.Together-share(without))
		out.Subjects = append(out.Subjects, SubjectsShare{c.Subject, c.Name, share(alone), own})
		out.Common -= own
	}
	out.Common = max(0, out.Common)
	return out
}

// coarse cuts variables into parts, as many as leave cells enough for each combination;
// nil if there are too few cells for any.
func coarse(values [][]float64, n int) [][]int32 {
	for most := mostParts; most >= leastParts; most /= 2 {
		parts := make([][]int32, len(values))
		for i, v := range values {
			parts[i] = partsOf(v, most, most)
		}
		all := slices.Repeat([]bool{true}, len(values))
		joint := slices.Clone(crossed(parts, all))
		slices.Sort(joint)
		if cells := len(slices.Compact(joint)); cells > 1 && cells*cellsPerPart <= n {
			return parts
		}
	}
	return nil
}

// crossed numbers the combinations of the parts of those variables that are taken.
func crossed(parts [][]int32, taken []bool) []int32 {
	out := make([]int32, len(parts[0]))
	for i, p := range parts {
		if !taken[i] {
			continue
		}
		for c, k := range p {
			out[c] = out[c]*(mostParts+1) + k // three of these fit
		}
	}
	return out
}
