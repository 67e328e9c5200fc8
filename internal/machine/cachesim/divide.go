package cachesim

import "math/bits"

// Divisor divides by a number that stays the same, by multiplication: a division
// of 64 bits takes as long as all else that an access to a cache does.
type Divisor struct {
	by      uint64
	inverse uint64 // 2⁶⁴ ÷ by, rounded down
}

// NewDivisor divides by a number above 0.
func NewDivisor(by uint64) Divisor {
	if by == 1 {
		return Divisor{by, ^uint64(0)}
	}
	inverse, _ := bits.Div64(1, 0, by)
	return Divisor{by, inverse}
}

// Of is x ÷ by and what is left. The inverse is less than one too small, so is
// the product by it: the quotient is right or one too small.
func (d *Divisor) Of(x uint64) (quotient, rest uint64) {
	quotient, _ = bits.Mul64(x, d.inverse)
	rest = x - quotient*d.by
	if rest >= d.by {
		return quotient + 1, rest - d.by
	}
	return quotient, rest
}
