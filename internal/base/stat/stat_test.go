package stat

import (
	"math"
	"slices"
	"testing"
)

func near(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if math.Abs(got-want) > relative*math.Max(math.Abs(want), 1e-300) {
		t.Errorf("%s = %.15g, want %.15g", what, got, want)
	}
}

// TestPolygamma has the values at one (Euler's constant, ζ(2), ζ(3)), and their
// recurrences and derivatives elsewhere.
func TestPolygamma(t *testing.T) {
	near(t, "Digamma(1)", Digamma(1), -0.5772156649015329, 1e-13)
	near(t, "Trigamma(1)", Trigamma(1), math.Pi*math.Pi/6, 1e-13)
	near(t, "Tetragamma(1)", Tetragamma(1), -2*1.2020569031595943, 1e-13)
	near(t, "Digamma(1/2)", Digamma(.5), -0.5772156649015329-2*math.Ln2, 1e-13)
	near(t, "Trigamma(1/2)", Trigamma(.5), math.Pi*math.Pi/2, 1e-13)
	for _, x := range []float64{.3, 2.5, 11.9, 12.1, 400} {
		const h = 1e-5
		near(t, "slope of Digamma", (Digamma(x+h)-Digamma(x-h))/2/h, Trigamma(x), 1e-6)
		near(t, "slope of Trigamma", (Trigamma(x+h)-Trigamma(x-h))/2/h, Tetragamma(x), 1e-5)
	}
}

// TestStudent has closed forms for 1, 2 and 4 degrees of freedom, a table's
// values, and the normal law as the limit.
func TestStudent(t *testing.T) {
	for _, x := range []float64{.1, 1, 2.5, 40} {
		near(t, "df 1", StudentTail(x, 1), .5-math.Atan(x)/math.Pi, 1e-9)
		near(t, "df 2", StudentTail(x, 2), .5-x/2/math.Sqrt(2+x*x), 1e-9)
		s := x / math.Sqrt(4+x*x)
		near(t, "df 4", StudentTail(x, 4), .5-s*(1+(1-s*s)/2)/2, 1e-8)
		near(t, "mirrored", StudentTail(-x, 7), 1-StudentTail(x, 7), 1e-12)
	}
	near(t, "df 1e6", StudentTail(2.5, 1e6), NormalTail(2.5), 1e-4)
	near(t, "far out", StudentTail(30, 10), 1.9e-11, .05)
	for _, row := range []struct{ p, df, want float64 }{{.975, 1, 12.706204736}, {.975, 10, 2.228138852}, {.995, 30, 2.749995654}, {.95, 1e6, 1.644854}} {
		near(t, "quantile", StudentQuantile(row.p, row.df), row.want, 1e-6)
	}
	near(t, "normal", NormalQuantile(.975), 1.959963985, 1e-9)
	if StudentQuantile(.5, 3) != 0 {
		t.Error("the median is not zero")
	}
}

func TestOrder(t *testing.T) {
	v := []float64{5, 1, 3, 3}
	if Median(v) != 3 || Median(v[:3]) != 3 || !math.IsNaN(Median(nil)) || v[0] != 5 {
		t.Errorf("medians %v %v, values now %v", Median(v), Median(v[:3]), v)
	}
	if got := Ranks(v); !slices.Equal(got, []float64{4, 1, 2.5, 2.5}) {
		t.Errorf("ranks %v", got)
	}
	if got := Ranks([]float64{3, math.NaN(), 2}); !slices.Equal(got, []float64{3, 1, 2}) {
		t.Errorf("ranks beside NaN %v", got)
	}
	near(t, "variance", Variance(v), 8./3, 1e-12)
	near(t, "correlation", Correlation([]float64{1, 2, 3}, []float64{2, 4, 5}), 3/math.Sqrt(2*14./3), 1e-12)
	if Correlation([]float64{1, 1}, []float64{2, 4}) != 0 {
		t.Error("a constant correlates")
	}
}

// TestDiscoveries is the worked example of Benjamini and Hochberg's paper (1995,
// table of 15 tests): four are rejected at 5 %.
func TestDiscoveries(t *testing.T) {
	p := []float64{.0001, .0004, .0019, .0095, .0201, .0278, .0298, .0344, .0459, .3240, .4262, .5719, .6528, .7590, 1}
	slices.Reverse(p)
	rejected := 0
	adjusted := Discoveries(p)
	for i, q := range adjusted {
		if q < p[i] || q > 1 {
			t.Errorf("p %v became %v", p[i], q)
		}
		if q <= .05 {
			rejected++
		}
	}
	if rejected != 4 {
		t.Errorf("%d rejected, want 4: %v", rejected, adjusted)
	}
}
