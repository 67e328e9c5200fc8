package cycle

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/base/test"
)

// lowerDistance writes the matrix as ripser wants it.
func lowerDistance(m *Matrix) []byte {
	var b bytes.Buffer
	for i := 1; i < m.N; i++ {
		for j := range i {
			if j > 0 {
				b.WriteByte(',')
			}
			b.WriteString(strconv.Itoa(m.At(i, j)))
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// ripserBars runs Debian's ripser. A bar without an end is alive at the
// threshold: death -1.
func ripserBars(t testing.TB, ripser string, m *Matrix, eps int) [][2]int {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), ripser, "--format", "lower-distance", "--dim", "1", "--threshold", strconv.Itoa(eps))
	cmd.Stdin = bytes.NewReader(lowerDistance(m))
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("ripser: %v", err)
	}
	_, dim1, ok := strings.Cut(string(out), "in dim 1:")
	if !ok {
		t.Fatalf("ripser printed no intervals of dimension 1: %.300s", out)
	}
	var bars [][2]int
	for s := bufio.NewScanner(strings.NewReader(dim1)); s.Scan(); {
		line := strings.TrimSpace(s.Text())
		if !strings.HasPrefix(line, "[") {
			continue
		}
		birth, death, _ := strings.Cut(strings.Trim(line, "[)"), ",")
		bar := [2]int{-1, -1}
		if _, err := fmt.Sscan(birth, &bar[0]); err != nil {
			t.Fatalf("ripser line %q", line)
		}
		fmt.Sscan(strings.TrimSpace(death), &bar[1])
		bars = append(bars, bar)
	}
	return sortBars(bars)
}

// randomTrace imitates a program: nested loops over bodies of random symbols,
// with branches, so that windows recur and distances tie.
func randomTrace(rng *rand.Rand, length int) []uint32 {
	bodies := make([][]uint32, 2+rng.IntN(5))
	for i := range bodies {
		bodies[i] = make([]uint32, 2+rng.IntN(14))
		for j := range bodies[i] {
			bodies[i][j] = uint32(rng.IntN(6 + rng.IntN(60)))
		}
	}
	var out []uint32
	for len(out) < length {
		body := bodies[rng.IntN(len(bodies))]
		for range 1 + rng.IntN(6) {
			out = append(out, body...)
			if rng.IntN(3) == 0 {
				out = append(out, uint32(rng.IntN(80)))
			}
		}
	}
	return out[:length]
}

func TestRipserEqual(t *testing.T) {
	ripser := test.Peer(t, "ripser", "ripser")
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 11))
		syms := randomTrace(rng, 100+rng.IntN(250))
		p, err := Windows(t.Context(), syms, 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, eps := range []int{2, 3, 4, 5, 6} {
			m, err := Distances(t.Context(), p, eps)
			if err != nil {
				t.Fatal(err)
			}
			want := ripserBars(t, ripser, m, eps)
			got := barPairs(barsOf(t, m, 47).bars)
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("seed %d, %d points, eps %d: %s", seed, m.N, eps, d)
			}
		}
	}
}

// Bars do not depend on the order of the points or on the prime. With integer
// distances this fails as soon as two steps order ties differently.
func TestBarsUnderReordering(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 12))
		syms := randomTrace(rng, 60+rng.IntN(200))
		p, err := Windows(t.Context(), syms, 10)
		if err != nil {
			t.Fatal(err)
		}
		m, err := Distances(t.Context(), p, 10)
		if err != nil {
			t.Fatal(err)
		}
		want := barPairs(barsOf(t, m, 47).bars)
		perm := rng.Perm(m.N)
		q := &Matrix{N: m.N, Cap: m.Cap, D: make([]uint8, len(m.D))}
		for i := range m.N {
			for j := range m.N {
				q.D[i*m.N+j] = m.D[perm[i]*m.N+perm[j]]
			}
		}
		for _, prime := range []int{2, 47, 61} {
			if d := cmp.Diff(want, barPairs(barsOf(t, q, prime).bars)); d != "" {
				t.Errorf("seed %d, prime %d: %s", seed, prime, d)
			}
		}
	}
}
