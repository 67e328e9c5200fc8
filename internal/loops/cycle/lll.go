package cycle

import (
	"errors"
	"math"
)

// reduceBasis is the algorithm of Lenstra, Lenstra and Lovász with delta 3/4 on
// the lattice with the given Gram matrix. It returns the rows of the new basis
// in terms of the old; the matrix has determinant ±1.
func reduceBasis(gram [][]float64) ([][]int64, error) {
	n := len(gram)
	u := make([][]int64, n)
	for i := range u {
		u[i] = make([]int64, n)
		u[i][i] = 1
	}
	mu, norm := orthogonal(gram, u)
	k := 1
	for round := 0; k < n; round++ {
		if round > 1000*n*n {
			return nil, errors.New("the basis does not settle: its classes are too nearly dependent")
		}
		for j := k - 1; j >= 0; j-- {
			q := math.Round(mu[k][j])
			if q == 0 {
				continue
			}
			for c := range u[k] {
				u[k][c] -= int64(q) * u[j][c]
			}
			mu, norm = orthogonal(gram, u)
		}
		if norm[k] >= (0.75-mu[k][k-1]*mu[k][k-1])*norm[k-1] {
			k++
			continue
		}
		u[k], u[k-1] = u[k-1], u[k]
		mu, norm = orthogonal(gram, u)
		k = max(k-1, 1)
	}
	return u, nil
}

// orthogonal is the Gram–Schmidt process on the rows of u, in the metric gram.
func orthogonal(gram [][]float64, u [][]int64) (mu [][]float64, norm []float64) {
	n := len(u)
	mu, norm = make([][]float64, n), make([]float64, n)
	r := make([][]float64, n) // <b_i, b_j*>
	for i := range n {
		mu[i], r[i] = make([]float64, n), make([]float64, n)
		for j := 0; j <= i; j++ {
			s := product(gram, u[i], u[j])
			for k := range j {
				s -= mu[j][k] * r[i][k]
			}
			r[i][j] = s
			if j < i {
				mu[i][j] = s / norm[j]
			}
		}
		norm[i] = r[i][i]
	}
	return mu, norm
}

func product(gram [][]float64, a, b []int64) float64 {
	s := 0.0
	for i, x := range a {
		if x == 0 {
			continue
		}
		for j, y := range b {
			s += float64(x) * gram[i][j] * float64(y)
		}
	}
	return s
}
