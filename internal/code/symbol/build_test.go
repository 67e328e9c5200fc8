package symbol

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
)

// The programs of the tests. Their answers are known from the text; positions
// are compared with what binutils say.
const heatC = `#include <stdlib.h>
struct cell { double u; float v[2]; int tag; };
double grid[8][16];
static struct cell cells[10];
struct { int n; double row[32]; } whole;
__attribute__((always_inline)) static inline double square(double x)
{
	return x * x;
}
static inline __attribute__((always_inline)) double both(double x, double y)
{
	double a = square(x);
	return a + square(y);
}
__attribute__((noinline)) double step(int i, int j)
{
	static int calls[4];
	calls[i & 3]++;
	double s = both(grid[i][j], cells[i].u);
	whole.row[j] = s;
	return s;
}
int main(int argc, char **argv)
{
	volatile double *heap = malloc(4096);
	heap[0] = step(argc & 7, 3);
	return (int)heap[0];
}
`

const shapesCC = `#include <cstdio>
#include <cmath>
namespace geometry {
struct Shape { virtual double area() const = 0; virtual ~Shape() {} };
template <typename T> struct Box : Shape {
	T w, h;
	Box(T a, T b) : w(a), h(b) {}
	inline T clampw(T lo) const { return w < lo ? lo : w; }
	double area() const override { return clampw(T(1)) * h; }
};
double table[4][3][2];
}
template <typename T> __attribute__((noinline)) T sum(const T *p, int n)
{
	T s = 0;
	for (int i = 0; i < n; i++)
		s += std::sqrt(p[i]);
	return s;
}
int main(int argc, char **)
{
	geometry::Box<double> b(argc, 2);
	geometry::Shape *s = &b;
	std::printf("%g %g\n", s->area(), sum(&geometry::table[0][0][0], 24));
	return 0;
}
`

const waveF90 = `module waves
  implicit none
  real(8) :: field(12, 5)
contains
  subroutine advance(k)
    integer, intent(in) :: k
    field(k, 2) = field(k, 1) * 2.0d0 + inner(k)
  contains
    real(8) function inner(i)
      integer, intent(in) :: i
      inner = field(i, 3)
    end function
  end subroutine
end module
program main
  use waves
  common /block/ left(4), right(6)
  real :: left, right
  right(2) = 1.0
  call advance(3)
  left(1) = right(2) + real(field(3, 2))
  print *, left(1)
end program
`

// compile builds a program of one file and returns its path.
func compile(t testing.TB, name, source string, flags ...string) string {
	t.Helper()
	compiler := map[string][2]string{".c": {"gcc", "gcc"}, ".cc": {"g++", "g++"}, ".f90": {"gfortran", "gfortran"}}[filepath.Ext(name)]
	cc := test.Peer(t, compiler[0], compiler[1])
	dir := t.TempDir()
	out := filepath.Join(dir, "program")
	if err := os.WriteFile(filepath.Join(dir, name), []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(cc, append(flags, name, "-o", out, "-lm")...)
	command.Dir = dir
	if text, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", cc, flags, err, text)
	}
	return out
}

// tool runs a program of binutils.
func tool(t testing.TB, input, name string, args ...string) string {
	t.Helper()
	command := exec.Command(test.Peer(t, name, "binutils"), args...)
	command.Stdin = strings.NewReader(input)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, stderr.Bytes())
	}
	return string(out)
}
