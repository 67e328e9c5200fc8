! SPDX-License-Identifier: Apache-2.0
! Copyright the Isobath authors

! Tell Isobath what your arrays are and what your program is doing.
!
!     use isobath
!     real(8), allocatable, target :: u(:,:)
!     allocate(u(nx, ny))
!     call isobath_buffer('u', c_loc(u), 8, [nx, ny])
!     do it = 1, steps
!         call isobath_state('iteration', real(it, 8))
!         call isobath_phase('phase', 'smooth')
!
! Compile this file with your program; nothing else has to be linked. Under
! `isobath record` every call appends one line to a file; otherwise it does
! nothing after one look at the environment. Fortran 2003, Linux.
module isobath
  use, intrinsic :: iso_c_binding, only: c_ptr, c_int, c_long, c_char, c_intptr_t, c_null_ptr, c_null_char, &
    c_associated, c_loc
  implicit none
  private
  public :: isobath_buffer, isobath_state, isobath_phase, isobath_recording, c_loc

  type, bind(c) :: timespec
    integer(c_long) :: seconds, nanoseconds
  end type timespec

  interface
    function c_fopen(path, mode) bind(c, name='fopen') result(file)
      import :: c_ptr, c_char
      character(kind=c_char), intent(in) :: path(*), mode(*)
      type(c_ptr) :: file
    end function c_fopen
    function c_fputs(text, file) bind(c, name='fputs') result(status)
      import :: c_ptr, c_char, c_int
      character(kind=c_char), intent(in) :: text(*)
      type(c_ptr), value :: file
      integer(c_int) :: status
    end function c_fputs
    function c_fflush(file) bind(c, name='fflush') result(status)
      import :: c_ptr, c_int
      type(c_ptr), value :: file
      integer(c_int) :: status
    end function c_fflush
    function c_getpid() bind(c, name='getpid') result(pid)
      import :: c_int
      integer(c_int) :: pid
    end function c_getpid
    function c_clock(id, time) bind(c, name='clock_gettime') result(status)
      import :: c_int, timespec
      integer(c_int), value :: id
      type(timespec), intent(out) :: time
      integer(c_int) :: status
    end function c_clock
  end interface

  logical, save :: looked = .false.
  type(c_ptr), save :: file = c_null_ptr

contains

  ! Whether the program is being recorded.
  function isobath_recording() result(yes)
    logical :: yes
    character(len=4096) :: path
    integer :: length, status
    if (.not. looked) then
      looked = .true.
      call get_environment_variable('ISOBATH_MARKS', path, length, status)
      if (status == 0 .and. length > 0) file = c_fopen(path(1:length)//c_null_char, 'a'//c_null_char)
    end if
    yes = c_associated(file)
  end function isobath_recording

  ! Names an array of up to three dimensions; the first extent varies fastest.
  subroutine isobath_buffer(name, address, element, extents)
    character(len=*), intent(in) :: name
    type(c_ptr), intent(in) :: address
    integer, intent(in) :: element ! bytes
    integer, intent(in) :: extents(:)
    character(len=200) :: numbers
    integer :: d(3), n
    if (.not. isobath_recording()) return
    n = min(size(extents), 3)
    d = 1
    d(1:n) = extents(1:n)
    write (numbers, '(i0,1x,i0,1x,i0,1x,i0,1x,i0,1x,i0)') transfer(address, 0_c_intptr_t), element, n, d
    call line('buffer', trim(numbers)//' '//trim(name))
  end subroutine isobath_buffer

  ! Sets a state variable: it becomes a column of the samples.
  subroutine isobath_state(name, value)
    character(len=*), intent(in) :: name
    real(8), intent(in) :: value
    character(len=40) :: number
    if (.not. isobath_recording()) return
    write (number, '(es24.16e3)') value
    call line('state', trim(adjustl(number))//' '//trim(name))
  end subroutine isobath_state

  ! The same with a word for a value.
  subroutine isobath_phase(name, word)
    character(len=*), intent(in) :: name, word
    if (.not. isobath_recording()) return
    call line('word', '0 '//trim(name)//'='//trim(word))
  end subroutine isobath_phase

  subroutine line(kind, rest)
    character(len=*), intent(in) :: kind, rest
    character(len=80) :: head
    type(timespec) :: now
    integer(c_int) :: pid, status
    status = c_clock(1_c_int, now)
    pid = c_getpid()
    write (head, '(i0,1x,i0,1x,i0)') pid, pid, int(now%seconds, 8)*1000000000_8 + int(now%nanoseconds, 8)
    status = c_fputs(kind//' '//trim(head)//' '//rest//new_line('a')//c_null_char, file)
    status = c_fflush(file)
  end subroutine line

end module isobath
