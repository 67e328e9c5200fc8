//go:build linux && amd64

package tree_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/record/reftrace"
)

// fortranTurns are loops whose turns leave nothing but the line of their do (7, 12, 15),
// that are skipped and left early, and elimination with a choice of rows. What each
// does stands behind it: entries and turns.
const fortranTurns = `integer function run(n, m) bind(C, name="run") result(x)
  use numbers
  implicit none
  integer, value :: n, m
  integer :: i, j, k, p
  real(8) :: f
  do i = 1, n - 2 ! 1 3
    x = 10
  end do
  j = 0
  if (m > n) then
    do i = m, 1, -1 ! 1 7
      a(3) = 8
    end do
    do i = 1, n ! 1 5
      if (a(i) == m) cycle
    end do
  end if
  do i = 1, size ! 1 12
    d(i) = d(i)/2 + 1
  end do
  do k = 1, size - 1 ! 1 5
    p = k
    do i = k + 1, size ! 5 45
      if (abs(w(i,k)) > abs(w(p,k))) p = i
    end do
    if (k > 4) exit
    do j = k + 1, size ! 4 38
      do i = k + 1, size ! 38 366
        w(i,j) = w(i,j) - w(i,k)*w(k,j)/w(k,k)
      end do
    end do
  end do
  rows: do j = 1, 5 ! 1 5
    do i = 1, size ! 5 35
      if (i > 2*j) cycle rows
      d(i) = d(i) + j
    end do
  end do rows
  do j = 1, 4 ! 1 4
    do i = j, size, 3 ! 4 15
      d(i) = d(i) + j
    end do
  end do
  x = j + p
end function
program main
  use numbers
  implicit none
  interface
    integer function run(n, m) bind(C, name="run")
      integer, value :: n, m
    end function
  end interface
  integer :: i, j
  a = 1
  d = 2
  do i = 1, size
    do j = 1, size
      w(i,j) = mod(i*j*13 + i, 17) + 0.5d0
    end do
  end do
  if (run(5 + command_argument_count(), 7) == -1) stop 1
  print *, sum(a), sum(d), sum(w)
end program
`

const fortranNumbers = `module numbers
  implicit none
  integer, parameter :: size = 12
  integer :: a(12) = 0
  real(8) :: d(size), w(size,size)
end module
`

// TestFortranTurns: no count of a loop is shown as exact and wrong, and those whose
// limits are constant, and of which any code is left, are exact at every level.
func TestFortranTurns(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles and steps programs")
	}
	gfortran := test.Peer(t, "gfortran", "gfortran")
	text := fortranNumbers + fortranTurns
	source := filepath.Join(t.TempDir(), "turns.f90")
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	constant := map[int]bool{}
	for i, line := range strings.Split(text, "\n") {
		constant[i+1] = strings.HasPrefix(line, "  do i = 1, size") || strings.HasPrefix(line, "  do j = 1, 4") || strings.HasPrefix(line, "    do i = j, size, 3")
	}
	for _, level := range []string{"-O0", "-O1", "-O2", "-O3"} {
		t.Run(level, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "turns")
			if out, err := exec.CommandContext(t.Context(), gfortran, "-g", level, "-J", t.TempDir(), "-o", program, source).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			got := recordTree(t, program, reftrace.Step)
			exact, all := 0, 0
			for line, want := range said(t, text, " ! ") {
				all++
				switch l := loopAt(got, line); {
				case l != nil && l.Exact && (l.Entries != want.entries || l.Trips.Trips != want.turns):
					t.Errorf("line %d: %d entries, %d turns are shown as exact, want %d and %d", line, l.Entries, l.Trips.Trips, want.entries, want.turns)
				case l != nil && l.Exact:
					exact++
				case constant[line] && (l == nil || l.Head != 0):
					t.Errorf("line %d: %+v, want %d and %d", line, l, want.entries, want.turns)
				}
			}
			t.Logf("%d of %d loops exact", exact, all)
		})
	}
}

// said are the entries and turns of loops that stand in comments behind them.
func said(t *testing.T, text, comment string) map[int]truth {
	t.Helper()
	all := map[int]truth{}
	for i, line := range strings.Split(text, "\n") {
		if _, numbers, ok := strings.Cut(line, comment); ok {
			w := truth{line: i + 1}
			if _, err := fmt.Sscan(numbers, &w.entries, &w.turns); err != nil {
				t.Fatal(err)
			}
			all[w.line] = w
		}
	}
	return all
}
