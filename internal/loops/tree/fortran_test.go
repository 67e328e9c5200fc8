//go:build linux && amd64

package tree_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/record/reftrace"
)

// fortranNests walk arrays against the order they lie in, so that the compiler works
// on several turns of an outer loop at once, and with it.
const fortranNests = `module m
  real(8) :: a(40,30), b(40,30), c(40)
end module
subroutine run() bind(C, name="run")
  use m
  integer :: i, j, it
  do it = 1, 3
    do i = 1, 40
      do j = 1, 30
        a(i,j) = b(i,j) + 1
      end do
    end do
    do i = 1, 40
      do j = 1, 30
        b(i,j) = a(i,j)
      end do
    end do
    do j = 2, 29
      do i = 2, 39
        b(i,j) = 0.25d0*(a(i-1,j)+a(i+1,j)+a(i,j-1)+a(i,j+1))
      end do
    end do
    do i = 1, 40
      c(i) = 0
      do j = 1, 30
        c(i) = c(i) + a(i,j)*b(i,j)
      end do
    end do
  end do
end subroutine
program p
  use m
  interface
    subroutine run() bind(C, name="run")
    end subroutine
  end interface
  a = 0; b = 1
  call run()
  print *, sum(a), sum(c)
end program
`

// TestFortranLoops: at every level no count of a loop is shown as exact that is
// wrong, also where one turn of the code is several of a loop around it.
func TestFortranLoops(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles and steps programs")
	}
	gfortran := test.Peer(t, "gfortran", "gfortran")
	want := map[int][2]uint64{7: {1, 3}, 8: {3, 120}, 9: {120, 3600}, 13: {3, 120}, 14: {120, 3600}, 18: {3, 84}, 19: {84, 3192}, 23: {3, 120}, 25: {120, 3600}}
	source := filepath.Join(t.TempDir(), "nests.f90")
	if err := os.WriteFile(source, []byte(fortranNests), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, level := range []string{"-O0", "-O1", "-O2", "-O3"} {
		t.Run(level, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "nests")
			if out, err := exec.Command(gfortran, "-g", level, "-J", t.TempDir(), "-o", program, source).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			got := recordTree(t, program, reftrace.Step)
			exact := 0
			for i := range got.Loops {
				l := &got.Loops[i]
				w, known := want[l.Line]
				if !l.Exact {
					continue
				}
				exact++
				if !known || l.Entries != w[0] || l.Trips.Trips != w[1] {
					t.Errorf("line %d: %d turns in %d entries are shown as exact, want %v", l.Line, l.Trips.Trips, l.Entries, w)
				}
			}
			t.Logf("%d of %d loops exact", exact, len(want))
			if level == "-O0" && exact < len(want) {
				t.Errorf("%d of %d loops exact", exact, len(want))
			}
		})
	}
}
