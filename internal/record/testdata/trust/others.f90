! Kernels in Fortran, as those of kernels.c: each waits for the arrays that its
! entry in the test names.
module arrays
  implicit none
  integer, parameter :: n = 4194304
  integer, allocatable :: link(:)
  real(8), allocatable :: grid(:,:)
  integer :: fixed(n)
contains
  subroutine permute(p)
    integer, intent(inout) :: p(:)
    integer :: i, k, t
    integer(8) :: state
    state = 88172645463325_8
    do i = 1, size(p)
      p(i) = i
    end do
    do i = size(p), 2, -1
      state = ieor(state, ishft(state, 13))
      state = ieor(state, ishft(state, -7))
      state = ieor(state, ishft(state, 17))
      k = 1 + int(modulo(state, int(i - 1, 8)))
      t = p(i)
      p(i) = p(k)
      p(k) = t
    end do
  end subroutine
  subroutine fortran_chase(steps)
    integer, intent(in) :: steps
    integer :: i, k
    i = 1
    do k = 1, steps
      i = link(i)
    end do
    if (i == 0) print *, i
  end subroutine
  subroutine fortran_fixed(steps)
    integer, intent(in) :: steps
    integer :: i, k
    i = 1
    do k = 1, steps
      i = fixed(i)
    end do
    if (i == 0) print *, i
  end subroutine
  subroutine fortran_rows(rounds)
    integer, intent(in) :: rounds
    integer :: r, i, j
    real(8) :: s
    s = 0
    do r = 1, rounds
      do i = 1, size(grid, 1)
        do j = 1, size(grid, 2)
          s = s + grid(i, j)
        end do
      end do
    end do
    if (s < 0) print *, s
  end subroutine
end module

program others
  use arrays
  implicit none
  character(32) :: name, count
  integer :: k
  call get_command_argument(1, name)
  call get_command_argument(2, count)
  read (count, *) k
  allocate (link(n))
  allocate (grid(2048, 2048))
  call permute(link)
  call permute(fixed)
  grid = 1
  select case (name)
  case ('fortran_chase')
    call fortran_chase(k)
  case ('fortran_fixed')
    call fortran_fixed(k)
  case ('fortran_rows')
    call fortran_rows(k)
  end select
end program
