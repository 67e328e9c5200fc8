// Package stat has the few functions of statistics that comparisons need:
// Student's and the normal law, the derivatives of ln Γ, ranks, medians, and
// Benjamini and Hochberg's control of false discoveries.
package stat

import "math"

// asymptotic is from where on the series of the polygamma functions are exact to
// double precision.
const asymptotic = 12

// Digamma is the derivative of ln Γ at x > 0.
func Digamma(x float64) float64 {
	shift := 0.0
	for ; x < asymptotic; x++ {
		shift -= 1 / x
	}
	y := 1 / (x * x)
	return shift + math.Log(x) - .5/x - y*(1./12-y*(1./120-y*(1./252-y*(1./240-y*(1./132-y*691./32760)))))
}

// Trigamma is the derivative of Digamma.
func Trigamma(x float64) float64 {
	shift := 0.0
	for ; x < asymptotic; x++ {
		shift += 1 / (x * x)
	}
	y := 1 / (x * x)
	return shift + 1/x + y/2 + y/x*(1./6-y*(1./30-y*(1./42-y*(1./30-y*(5./66-y*691./2730)))))
}

// Tetragamma is the derivative of Trigamma.
func Tetragamma(x float64) float64 {
	shift := 0.0
	for ; x < asymptotic; x++ {
		shift -= 2 / (x * x * x)
	}
	y := 1 / (x * x)
	return shift - y - y/x - y*y*(1./2-y*(1./6-y*(1./6-y*(3./10-y*(5./6-y*691./210)))))
}

// NormalTail is the probability that a normal value exceeds z.
func NormalTail(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }

// NormalQuantile is the value that a normal one stays below with probability p.
func NormalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

// StudentTail is the probability that Student's t with df degrees of freedom
// exceeds t.
func StudentTail(t, df float64) float64 {
	switch {
	case math.IsNaN(t) || math.IsNaN(df):
		return math.NaN()
	case t < 0:
		return 1 - StudentTail(-t, df)
	case math.IsInf(t, 1):
		return 0
	}
	return betaFraction(df/(df+t*t), df/2, .5) / 2
}

// StudentQuantile is the value that Student's t with df degrees of freedom stays
// below with probability p, for p of at least one half.
func StudentQuantile(p, df float64) float64 {
	tail := 1 - p
	if tail >= .5 {
		return 0
	}
	low, high := 0.0, 2.0
	for StudentTail(high, df) > tail && high < 1e12 {
		low, high = high, 2*high
	}
	for range 200 {
		middle := (low + high) / 2
		if middle == low || middle == high {
			break
		}
		if StudentTail(middle, df) > tail {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}

// betaFraction is the regularised incomplete beta function I_x(a, b), by Lentz's
// continued fraction where it converges fast.
func betaFraction(x, a, b float64) float64 {
	if x <= 0 {
		return 0
	}
	if x >= 1 {
		return 1
	}
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	front := math.Exp(lab - la - lb + a*math.Log(x) + b*math.Log1p(-x))
	if x > (a+1)/(a+b+2) {
		return 1 - front*lentz(1-x, b, a)/b
	}
	return front * lentz(x, a, b) / a
}

func lentz(x, a, b float64) float64 {
	const tiny, steps, enough = 1e-300, 100_000, 1e-15
	nonzero := func(v float64) float64 {
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c, d := 1.0, 1/nonzero(1-(a+b)*x/(a+1))
	h := d
	for m := 1.0; m < steps; m++ {
		even := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		d, c = 1/nonzero(1+even*d), nonzero(1+even/c)
		h *= d * c
		odd := -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		d, c = 1/nonzero(1+odd*d), nonzero(1+odd/c)
		h *= d * c
		if math.Abs(d*c-1) < enough {
			break
		}
	}
	return h
}
