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
