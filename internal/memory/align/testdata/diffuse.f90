! Heat spreads over a plate: an explicit scheme, then conjugate gradients for
! the steady state. Written for the tests of what edits do to lines.
module diffuse_kinds
  implicit none
  private
  integer, parameter, public :: dp = kind(1.0d0)
  real(dp), parameter, public :: tolerance = 1.0e-8_dp
end module diffuse_kinds

module plate
  use diffuse_kinds, only: dp, tolerance
  implicit none
  private
  public :: field, setup, advance, residual_of, solve_steady

  !> A field of temperatures with one row of cells around it.
  type field
    integer :: nx = 0, ny = 0
    real(dp) :: dx = 1.0_dp, dy = 1.0_dp
    real(dp), allocatable :: t(:,:)
    real(dp), allocatable :: conduct(:,:)
  end type field

contains

  !> Makes room for a field, cold but for one warm edge.
  subroutine setup(f, nx, ny, warm)
    type(field), intent(inout) :: f
    integer, intent(in) :: nx, ny
    real(dp), intent(in) :: warm
    integer :: i, j
    f%nx = nx
    f%ny = ny
    f%dx = 1.0_dp / real(nx, dp)
    f%dy = 1.0_dp / real(ny, dp)
    if (allocated(f%t)) deallocate (f%t)
    if (allocated(f%conduct)) deallocate (f%conduct)
    allocate (f%t(0:nx+1, 0:ny+1))
    allocate (f%conduct(0:nx+1, 0:ny+1))
    do j = 0, ny + 1
      do i = 0, nx + 1
        f%t(i, j) = 0.0_dp
        f%conduct(i, j) = 1.0_dp + 0.1_dp * mod(i + j, 3)
      end do
    end do
    f%t(0, :) = warm ! the edge that is held warm
  end subroutine setup

  !> One step forward in time.
  pure subroutine advance(f, next, step)
    type(field), intent(in) :: f
    real(dp), intent(out) :: next(0:, 0:)
    real(dp), intent(in) :: step
    real(dp) :: flow, ax, ay
    integer :: i, j
    ax = step / (f%dx * f%dx)
    ay = step / (f%dy * f%dy)
    next(:, 0) = f%t(:, 0)
    next(:, f%ny + 1) = f%t(:, f%ny + 1)
    do j = 1, f%ny
      next(0, j) = f%t(0, j)
      do i = 1, f%nx
        flow = ax * (f%t(i - 1, j) - 2.0_dp * f%t(i, j) + f%t(i + 1, j))
        flow = flow + ay * (f%t(i, j - 1) - 2.0_dp * f%t(i, j) + f%t(i, j + 1))
        next(i, j) = f%t(i, j) + f%conduct(i, j) * flow
      end do
      next(f%nx + 1, j) = f%t(f%nx + 1, j)
    end do
  end subroutine advance

  !> How far a field is from steady: the largest change of a cell.
  real(dp) function residual_of(f, next) result(largest)
    type(field), intent(in) :: f
    real(dp), intent(in) :: next(0:, 0:)
    integer :: i, j
    largest = 0.0_dp
    do j = 1, f%ny
      do i = 1, f%nx
        if (abs(next(i, j) - f%t(i, j)) > largest) then
          largest = abs(next(i, j) - f%t(i, j))
        end if
      end do
    end do
  end function residual_of

  ! What a row of the matrix does to a vector. The function is called in each
  ! turn, and most of the time goes here.
  subroutine apply(f, p, q)
    type(field), intent(in) :: f
    real(dp), intent(in) :: p(0:, 0:)
    real(dp), intent(out) :: q(0:, 0:)
    integer :: i, j
    !$omp parallel do private(i)
    do j = 1, f%ny
      do i = 1, f%nx
        q(i, j) = 4.0_dp * p(i, j) - p(i - 1, j) - p(i + 1, j) &
                  - p(i, j - 1) - p(i, j + 1)
      end do
    end do
    !$omp end parallel do
  end subroutine apply

  elemental function clamp(x, low, high) result(y)
    real(dp), intent(in) :: x, low, high
    real(dp) :: y
    y = max(low, min(high, x))
  end function clamp

  !> Conjugate gradients until the residual is small.
  subroutine solve_steady(f, turns)
    type(field), intent(inout) :: f
    integer, intent(out) :: turns
    real(dp), allocatable :: r(:,:), p(:,:), q(:,:)
    real(dp) :: rr, before, alpha, beta
    integer :: i, j
    allocate (r, mold=f%t)
    allocate (p, mold=f%t)
    allocate (q, mold=f%t)
    q = 0.0_dp
    call apply(f, f%t, q)
    r = -q
    p = r
    rr = sum(r * r)
    turns = 0
    search: do
      if (rr < tolerance) exit search
      if (turns >= f%nx * f%ny) then
        print *, 'no end of the search: ', rr
        exit search
      end if
      call apply(f, p, q)
      alpha = rr / sum(p * q)
      do concurrent (j = 1:f%ny, i = 1:f%nx)
        f%t(i, j) = f%t(i, j) + alpha * p(i, j)
        r(i, j) = r(i, j) - alpha * q(i, j)
      end do
      before = rr
      rr = sum(r * r)
      beta = rr / before
      p = r + beta * p
      turns = turns + 1
    end do search
    f%t = clamp(f%t, 0.0_dp, huge(1.0_dp))
    deallocate (r, p, q)
  end subroutine solve_steady

end module plate

program diffuse
  use diffuse_kinds, only: dp, tolerance
  use plate
  implicit none
  type(field) :: f
  real(dp), allocatable :: next(:,:)
  real(dp) :: step, left
  integer :: turn, turns, most
  character(len=32) :: word
  most = 500
  if (command_argument_count() > 0) then
    call get_command_argument(1, word)
    read (word, *) most
  end if
  call setup(f, 128, 96, 100.0_dp)
  allocate (next, mold=f%t)
  step = 0.2_dp * min(f%dx, f%dy)**2
  do turn = 1, most
    call advance(f, next, step)
    left = residual_of(f, next)
    f%t = next
    select case (mod(turn, 100))
    case (0)
      write (*, '(a, i6, a, es12.4)') 'turn ', turn, ' left ', left
    case default
      continue
    end select
    if (left < tolerance) exit
  end do
  call solve_steady(f, turns)
  write (*, '(a, i0, a)') 'steady after ', turns, ' turns'
end program diffuse
