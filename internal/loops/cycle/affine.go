package cycle

// affine is the set of vectors a0 + span(d1, d2, …): all windings between
// visits of one point, however many there are, in at most one vector more than
// there are classes. A class winds the same on every return exactly when it is
// zero on every d.
type affine struct {
	base []int64
	diff [][]int64
	rows [][]uint64 // diff in echelon form over Z/q, to see which are new
	lead []int
}

// q is a Mersenne prime. Differences that are independent but agree modulo q
// would be missed; windings are far too small for that.
const q = 1<<31 - 1

// add widens the set to hold v = now - was.
func (a *affine) add(now, was []int64, scratch []uint64) {
	if a.base == nil {
		a.base = make([]int64, len(now))
		for i := range now {
			a.base[i] = now[i] - was[i]
		}
		return
	}
	if len(a.diff) == len(now) {
		return // already everything
	}
	zero := true
	for i := range now {
		d := now[i] - was[i] - a.base[i]
		if d != 0 {
			zero = false
		}
		scratch[i] = modQ(d)
	}
	if zero {
		return
	}
	for r, row := range a.rows {
		if f := scratch[a.lead[r]]; f != 0 {
			for i := a.lead[r]; i < len(row); i++ {
				scratch[i] = (scratch[i] + (q-f)*row[i]) % q
			}
		}
	}
	lead := 0
	for lead < len(scratch) && scratch[lead] == 0 {
		lead++
	}
	if lead == len(scratch) {
		return
	}
	a.grow(now, was, scratch, lead)
}

func (a *affine) grow(now, was []int64, scratch []uint64, lead int) {
	inv := powQ(scratch[lead], q-2)
	row := make([]uint64, len(scratch))
	for i := range row {
		row[i] = scratch[i] * inv % q
	}
	d := make([]int64, len(now))
	for i := range d {
		d[i] = now[i] - was[i] - a.base[i]
	}
	a.diff = append(a.diff, d)
	a.rows = append(a.rows, row)
	a.lead = append(a.lead, lead)
}

// winds returns how often the class winds on every return, if it is always the
// same.
func (a *affine) winds(class []int64) (int64, bool) {
	for _, d := range a.diff {
		if along(class, d) != 0 {
			return 0, false
		}
	}
	return along(class, a.base), true
}

func modQ(d int64) uint64 {
	m := d % q
	if m < 0 {
		m += q
	}
	return uint64(m)
}

func powQ(b, e uint64) uint64 {
	r := uint64(1)
	for ; e > 0; e >>= 1 {
		if e&1 == 1 {
			r = r * b % q
		}
		b = b * b % q
	}
	return r
}
