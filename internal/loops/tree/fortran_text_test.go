package tree

import (
	"fmt"
	"slices"
	"testing"
)

// TestFortranText: loops end where their own end stands, also those with labels and
// those whose turns have no order.
func TestFortranText(t *testing.T) {
	text := `subroutine run(a, n)
do k = 1, 3
  do concurrent (i = 1:n)
    a(i) = k
  end do
  do 20 i = 1, n
  do 20 j = 1, n
20  a(j) = i
  outer: do while (n > 0) ! do
    n = n - 1
  end do outer
end do
do
  exit
enddo
end subroutine
`
	var got []string
	for _, st := range fortranLoops("a.f90", []byte(text)) {
		got = append(got, fmt.Sprintf("%d-%d", st.at>>columnBits, (st.body.to-1)>>columnBits))
	}
	if want := []string{"2-12", "3-5", "6-8", "7-8", "9-11", "13-15"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestFortranShapes: what the text of loops proves is that nothing else ends them, that
// every turn around them reaches them, and their limits, where these are certain.
func TestFortranShapes(t *testing.T) {
	text := `module sizes
  integer, parameter :: n = 4, m = 2*n - &
    & 1, twice = 3 ! two lines
  real(8) :: a(n), b(m)
end module
module other
  integer, parameter :: twice = 9
end module
subroutine first(k)
  use sizes, only: n, m
  integer :: k
  do i = 1, m            ! plain
    do j = i, n, 2       ! of the loop around
      if (j > k) exit
    end do
    if (i == 3) then; k = 1
      do j = 1, 2        ! not always
      end do
    end if
    do j = n, 1, -1      ! behind an exit of another
    end do
    if (k < 0) cycle
    do j = 1, 3          ! behind a cycle
    end do
  end do
  do i = 1, mod(m, 4)    ! an intrinsic
  end do
  do i = 1, 'exit' // "do" ! strings
  end do
  do i = 1, twice        ! not of this unit
  end do
  outer: do i = 1, 5     ! left by name
    do j = 1, 6          ! left by name too
      if (k == j) exit outer
    end do
  end do outer
  if (k > 7) return
  do i = 1, 8            ! behind a return
  end do
end subroutine
recursive function second(s) result(r)
  integer :: r
  interface
    subroutine third()
    end subroutine
  end interface
  do while (r < 5)       ! not counted
    r = r + 1
  end do
  do i = 1_8, 2**3       ! kinds and powers
  end do
  do i = 1, s            ! an argument
  end do
end function
`
	want := []string{
		"12 always counted", "13 always", "17 counted", "20 always counted", "23 counted", "26 always counted",
		"28 always", "30 always", "32 always", "33 always", "38 counted", "47 always", "50 always", "52 always",
	}
	var got []string
	for _, st := range fortranLoops("a.f90", []byte(text)) {
		line := fmt.Sprint(st.at >> columnBits)
		if st.shape.always {
			line += " always"
		}
		if st.shape.counted != nil {
			line += " counted"
		}
		got = append(got, line)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for name, no := range map[string]string{
		"preprocessor": "subroutine s\n#ifdef X\ndo i = 1, 3\nend do\n#endif\nend\n",
		"directive":    "subroutine s\n!$omp do\ndo i = 1, 3\nend do\nend\n",
		"label":        "subroutine s\ndo i = 1, 3\nend do\n10 continue\nend\n",
		"entry":        "subroutine s\nentry t\ndo i = 1, 3\nend do\nend\n",
		"included":     "subroutine s\ninclude 'x'\ndo i = 1, 3\nend do\nend\n",
		"left block":   "subroutine s\nb: block\nif (x > 1) exit b\ndo i = 1, 3\nend do\nend block b\nend\n",
		"not ended":    "subroutine s\ndo i = 1, 3\nend do\n",
	} {
		for _, st := range fortranLoops("a.f90", []byte(no)) {
			if st.shape.always {
				t.Errorf("%s: every call reaches it", name)
			}
		}
	}
}
