package cycle

import "fmt"

// form is an integer cocycle on the complex at eps: a whole number on every
// edge of its support, oriented from the lower to the higher point, that adds
// up to zero around every triangle.
type form struct {
	eps   int
	edges []edge
	value []int32
	at    table[edge]
}

// on is the value along the step from u to v.
func (f *form) on(u, v int) int32 {
	if u == v {
		return 0
	}
	if u > v {
		return -f.on(v, u)
	}
	if k, ok := f.at.get(packEdge(v, u)); ok {
		return f.value[k]
	}
	return 0
}

func (f *form) put(e edge, v int32) {
	f.at.put(e, int32(len(f.edges)))
	f.edges = append(f.edges, e)
	f.value = append(f.value, v)
}

// liftError says that a cocycle over Z/p does not come from whole numbers.
type liftError struct {
	prime int
	at    triangle
	sum   int32
}

func (e *liftError) Error() string {
	a, b, c := e.at.corners()
	return fmt.Sprintf("the class over Z/%d is no class over the integers: around windows %d, %d, %d it adds up to %d",
		e.prime, a, b, c, e.sum)
}

// lift takes the coefficients of a cocycle to the whole numbers nearest zero
// and checks every triangle that touches one. Edges longer than eps are left
// out, which is what restricting the class to the smaller complex means.
func (r *rips) lift(c cocycle, p, eps int) (*form, error) {
	f := &form{eps: eps}
	for i, e := range c.edges {
		hi, lo := e.ends()
		if r.At(hi, lo) > eps {
			continue
		}
		v := int32(c.coefs[i])
		if int(v) > p/2 {
			v -= int32(p)
		}
		f.put(e, v)
	}
	return f, r.checkClosed(f, p)
}

func (r *rips) checkClosed(f *form, p int) error {
	for k, e := range f.edges {
		hi, lo := e.ends()
		a, b := r.around(f.eps, hi), r.around(f.eps, lo)
		for w := range a {
			for both := a[w] & b[w]; both != 0; both &= both - 1 {
				x := w*64 + trailing(both)
				if sum := f.value[k] + f.on(hi, x) - f.on(lo, x); sum != 0 {
					t, _ := cofacet(hi, lo, x)
					return &liftError{prime: p, at: t, sum: sum}
				}
			}
		}
	}
	return nil
}

// combine adds whole multiples of forms at one eps.
func combine(forms []*form, by []int64) *form {
	out := &form{eps: forms[0].eps}
	for i, f := range forms {
		if by[i] == 0 {
			continue
		}
		for k, e := range f.edges {
			v := int32(by[i]) * f.value[k]
			if at, ok := out.at.get(e); ok {
				out.value[at] += v
			} else {
				out.put(e, v)
			}
		}
	}
	return out
}
