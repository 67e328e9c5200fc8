! The same ring, through the Fortran bindings.
program ring
  use MODULE
  implicit none
  integer :: ierr, r, p, left, right, i, a, b, buf(2)
  REQUEST :: q(2)
  STATUS
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, r, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, p, ierr)
  left = mod(r + p - 1, p)
  right = mod(r + 1, p)
  do i = 1, 3
    a = r
    call MPI_Irecv(b, 1, MPI_INTEGER, left, i, MPI_COMM_WORLD, q(1), ierr)
    call MPI_Isend(a, 1, MPI_INTEGER, right, i, MPI_COMM_WORLD, q(2), ierr)
    call MPI_Waitall(2, q, MPI_STATUSES_IGNORE, ierr)
  end do
  call MPI_Sendrecv(a, 1, MPI_INTEGER, right, 9, b, 1, MPI_INTEGER, left, 9, MPI_COMM_WORLD, st, ierr)
  call MPI_Allreduce(MPI_IN_PLACE, a, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call MPI_Bcast(a, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  if (r == 0) call MPI_Send(a, 1, MPI_INTEGER, 1, 5, MPI_COMM_WORLD, ierr)
  if (r == 1) call MPI_Recv(buf, 2, MPI_INTEGER, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call MPI_Finalize(ierr)
end program ring
