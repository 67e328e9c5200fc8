! One-sided communication, a file and a communicator that comes later, in Fortran.
program others
  use MODULE
  implicit none
  integer :: rank, size, ierr, a(4), right
  integer(kind=MPI_ADDRESS_KIND) :: bytes, at
  integer(kind=MPI_OFFSET_KIND) :: place
  WINDOW :: win
  FILE :: f
  COMM :: other
  REQUEST :: q
  character(len=256) :: path
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  right = mod(rank + 1, size)
  bytes = 16
  at = 0
  call MPI_Win_create(a, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
  call MPI_Win_fence(0, win, ierr)
  call MPI_Put(rank, 1, MPI_INTEGER, right, at, 1, MPI_INTEGER, win, ierr)
  call MPI_Win_fence(0, win, ierr)
  call MPI_Win_free(win, ierr)
  call get_command_argument(1, path)
  call MPI_File_open(MPI_COMM_WORLD, trim(path), MPI_MODE_CREATE + MPI_MODE_WRONLY, MPI_INFO_NULL, f, ierr)
  if (ierr /= MPI_SUCCESS) stop 2
  place = 4 * rank
  call MPI_File_write_at(f, place, rank, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
  call MPI_File_close(f, ierr)
  call MPI_Comm_idup(MPI_COMM_WORLD, other, q, ierr)
  call MPI_Wait(q, MPI_STATUS_IGNORE, ierr)
  call MPI_Barrier(other, ierr)
  call MPI_Comm_free(other, ierr)
  call MPI_Finalize(ierr)
end program
