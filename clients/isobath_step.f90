! SPDX-License-Identifier: Apache-2.0
! Copyright the Isobath authors

! Hand the mesh and the variables of a running simulation to Isobath at a time
! step, in place of a dump.
!
!     use isobath_steps
!     type(isobath_step) :: s
!     call isobath_step_begin(s, iteration, time)
!     call isobath_step_mesh(s, xyz, corners)     ! xyz(3, points), corners(8, cells), from 0
!     call isobath_step_cells(s, 'e', e)
!     call isobath_step_points(s, 'velocity', v)  ! v(3, points) or one number each
!     call isobath_step_end(s)
!
! Compile this file with your program. Without ISOBATH_STEPS, the folder that
! `isobath mesh --insitu FOLDER -- PROGRAM` names, every call does nothing. A
! step appears in the folder whole or not at all, as a legacy VTK file. Fortran
! 2003 with stream files in big-endian order (convert=), as gfortran, ifx, nvfortran
! and Cray have; POSIX.
module isobath_steps
  use, intrinsic :: iso_fortran_env, only: real64, int32
  use, intrinsic :: iso_c_binding, only: c_int, c_char, c_null_char
  implicit none
  private
  public :: isobath_step, isobath_step_begin, isobath_step_mesh, isobath_step_cells, isobath_step_points, isobath_step_end

  type :: isobath_step
    private
    logical :: asked = .false.
    integer :: unit = 0
    integer :: cells = 0, points = 0
    integer :: section = 0 ! 1: variables on cells have begun, 2: those on points
    character(len=1024) :: made = '', name = ''
  end type isobath_step

  !> Variables on cells come before those on points.
  interface isobath_step_cells
    module procedure cells_scalar, cells_vector
  end interface isobath_step_cells
  interface isobath_step_points
    module procedure points_scalar, points_vector
  end interface isobath_step_points

  interface
    function c_rename(from, to) bind(c, name='rename') result(status)
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: from(*), to(*)
      integer(c_int) :: status
    end function c_rename
    function c_getpid() bind(c, name='getpid') result(pid)
      import :: c_int
      integer(c_int) :: pid
    end function c_getpid
  end interface

  character(len=1), parameter :: nl = new_line('a')

contains

  subroutine isobath_step_begin(s, iteration, time)
    type(isobath_step), intent(out) :: s
    integer, intent(in) :: iteration
    real(real64), intent(in) :: time
    character(len=900) :: folder
    character(len=10) :: digits
    character(len=12) :: pid
    integer :: length, status
    call get_environment_variable('ISOBATH_STEPS', folder, length, status)
    if (status /= 0 .or. length == 0) return
    write (digits, '(i10.10)') iteration
    write (pid, '(i0)') c_getpid()
    s%name = trim(folder)//'/step_'//digits//'.vtk'
    s%made = trim(folder)//'/.step_'//digits//'.'//trim(pid)
    open (newunit=s%unit, file=trim(s%made), access='stream', form='unformatted', status='replace', &
      convert='big_endian', iostat=status)
    if (status /= 0) return
    s%asked = .true.
    write (s%unit) '# vtk DataFile Version 3.0'//nl//'handed over by isobath_step.f90'//nl//'BINARY'//nl
    write (s%unit) 'DATASET UNSTRUCTURED_GRID'//nl//'FIELD FieldData 2'//nl//'TIME 1 1 double'//nl
    write (s%unit) time
    write (s%unit) nl//'CYCLE 1 1 int'//nl
    write (s%unit) int(iteration, int32)
    write (s%unit) nl
  end subroutine isobath_step_begin

  !> Points, and the points of each cell by number from 0: 8 for hexahedra, 6 wedges,
  !> 5 pyramids, 4 tetrahedra, 3 triangles.
  subroutine isobath_step_mesh(s, xyz, corners)
    type(isobath_step), intent(inout) :: s
    real(real64), intent(in) :: xyz(:, :)
    integer, intent(in) :: corners(:, :)
    integer, parameter :: types(8) = [0, 0, 5, 10, 14, 13, 0, 12]
    integer :: c, n
    if (.not. s%asked) return
    n = size(corners, 1)
    s%points = size(xyz, 2)
    s%cells = size(corners, 2)
    write (s%unit) 'POINTS '//text(s%points)//' double'//nl
    write (s%unit) xyz
    write (s%unit) nl//'CELLS '//text(s%cells)//' '//text(s%cells*(n + 1))//nl
    do c = 1, s%cells
      write (s%unit) int(n, int32), int(corners(:, c), int32)
    end do
    write (s%unit) nl//'CELL_TYPES '//text(s%cells)//nl
    do c = 1, s%cells
      write (s%unit) int(types(n), int32)
    end do
    write (s%unit) nl
  end subroutine isobath_step_mesh

  subroutine cells_scalar(s, name, values)
    type(isobath_step), intent(inout) :: s
    character(len=*), intent(in) :: name
    real(real64), intent(in) :: values(:)
    call variable(s, 1, name, values, 1)
  end subroutine cells_scalar

  subroutine cells_vector(s, name, values)
    type(isobath_step), intent(inout) :: s
    character(len=*), intent(in) :: name
    real(real64), intent(in) :: values(:, :)
    call variable(s, 1, name, reshape(values, [size(values)]), 3)
  end subroutine cells_vector

  subroutine points_scalar(s, name, values)
    type(isobath_step), intent(inout) :: s
    character(len=*), intent(in) :: name
    real(real64), intent(in) :: values(:)
    call variable(s, 2, name, values, 1)
  end subroutine points_scalar

  subroutine points_vector(s, name, values)
    type(isobath_step), intent(inout) :: s
    character(len=*), intent(in) :: name
    real(real64), intent(in) :: values(:, :)
    call variable(s, 2, name, reshape(values, [size(values)]), 3)
  end subroutine points_vector

  subroutine variable(s, section, name, values, components)
    type(isobath_step), intent(inout) :: s
    integer, intent(in) :: section, components
    character(len=*), intent(in) :: name
    real(real64), intent(in) :: values(:)
    if (.not. s%asked) return
    if (s%section < section) then
      s%section = section
      if (section == 1) write (s%unit) 'CELL_DATA '//text(s%cells)//nl
      if (section == 2) write (s%unit) 'POINT_DATA '//text(s%points)//nl
    end if
    if (components == 3) then
      write (s%unit) 'VECTORS '//trim(name)//' double'//nl
    else
      write (s%unit) 'SCALARS '//trim(name)//' double 1'//nl//'LOOKUP_TABLE default'//nl
    end if
    write (s%unit) values
    write (s%unit) nl
  end subroutine variable

  !> Hands the step over.
  subroutine isobath_step_end(s)
    type(isobath_step), intent(inout) :: s
    integer(c_int) :: status
    if (.not. s%asked) return
    close (s%unit)
    status = c_rename(trim(s%made)//c_null_char, trim(s%name)//c_null_char)
    s%asked = .false.
  end subroutine isobath_step_end

  function text(n)
    integer, intent(in) :: n
    character(len=:), allocatable :: text
    character(len=20) :: buffer
    write (buffer, '(i0)') n
    text = trim(buffer)
  end function text

end module isobath_steps
