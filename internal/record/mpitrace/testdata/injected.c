/* Programs with a delay that is known: injected KIND RANK STEP MS FILE makes one
   rank work MS longer in one step, and writes to FILE how much longer than usual
   that took by its own clock, which stands still while others have the processors:
   a busy machine wakes nobody in time. Work is sleeping, and a rank that waits sleeps
   between two looks, so that many ranks need few cores. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int me, np, late_rank, late_step;
static double late_ms;
static const char *told;

static void nap(double ms) {
	struct timespec t = {(time_t)(ms / 1e3), (long)((ms - 1e3 * (long)(ms / 1e3)) * 1e6)};
	while (nanosleep(&t, &t))
		;
}

/* Open MPI calls it while it waits, with mpi_yield_when_idle. */
int sched_yield(void) {
	nap(0.06);
	return 0;
}

/* ms that the thread was ready to run without a processor, 0 where the kernel does
   not count it. */
static double unready(void) {
	double on, ready = 0;
	FILE *f = fopen("/proc/thread-self/schedstat", "r");
	if (f && fscanf(f, "%lf %lf", &on, &ready) != 2) ready = 0;
	if (f) fclose(f);
	return ready / 1e6;
}

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e3 * t.tv_sec + t.tv_nsec / 1e6 - unready();
}

/* A step of -1 is every step. */
static double extra(int step) { return me == late_rank && (late_step < 0 || step == late_step) ? late_ms : 0; }

static double late_by;

static void tell(int step, double began, double usual) {
	if (extra(step) > 0) late_by += now() - began - usual;
}

static void work(int step, double ms) {
	double began = now();
	nap(ms + extra(step));
	tell(step, began, ms);
}

/* A wave front over two rows of ranks: values come from the left and from above. */
static void wave(void) {
	int cols = np / 2, row = me / cols, col = me % cols, v[2] = {0, 0};
	for (int k = 0; k < 12; k++) {
		if (col > 0) MPI_Recv(&v[0], 1, MPI_INT, me - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (row > 0) MPI_Recv(&v[1], 1, MPI_INT, me - cols, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		work(k, 5);
		if (col < cols - 1) MPI_Send(&v[0], 1, MPI_INT, me + 1, 1, MPI_COMM_WORLD);
		if (row == 0) MPI_Send(&v[1], 1, MPI_INT, me + cols, 2, MPI_COMM_WORLD);
	}
}

/* A master that takes whatever comes and hands out the next task. */
static void farm(void) {
	int tasks = 40, task = 0, done = 0, v;
	MPI_Status from;
	if (me == 0) {
		for (int open = np - 1; open > 0; done++) {
			MPI_Recv(&v, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &from);
			work(done, 0.5);
			int next = task < tasks ? task++ : -1;
			MPI_Send(&next, 1, MPI_INT, from.MPI_SOURCE, 2, MPI_COMM_WORLD);
			if (next < 0) open--;
		}
		return;
	}
	for (v = 0; v >= 0;) {
		MPI_Send(&v, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
		MPI_Recv(&v, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (v >= 0) nap(20);
	}
}

/* Neighbours of a ring exchange in one collective call. */
static void neighbours(void) {
	int dims[1] = {np}, round[1] = {1}, out[2] = {me, me}, in[2];
	MPI_Comm ring;
	MPI_Cart_create(MPI_COMM_WORLD, 1, dims, round, 0, &ring);
	for (int k = 0; k < 16; k++) {
		work(k, 10);
		MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring);
	}
	MPI_Comm_free(&ring);
}

/* Values are put into the window of the right neighbour between two fences. */
static void fence(void) {
	int *box, v = me;
	MPI_Win window;
	MPI_Win_allocate(sizeof *box, sizeof *box, MPI_INFO_NULL, MPI_COMM_WORLD, &box, &window);
	MPI_Win_fence(0, window);
	for (int k = 0; k < 14; k++) {
		work(k, 9);
		MPI_Put(&v, 1, MPI_INT, (me + 1) % np, 0, 1, MPI_INT, window);
		MPI_Win_fence(0, window);
	}
	MPI_Win_free(&window);
}

static void *part(void *ms) {
	nap(*(double *)ms);
	return 0;
}

/* Two threads share the work of a rank; the delay is in the one that does not
   communicate. */
static void hybrid(void) {
	double sum = me, all, own = 8, other;
	for (int k = 0; k < 16; k++) {
		pthread_t t;
		double began = now();
		other = 8 + extra(k);
		pthread_create(&t, 0, part, &other);
		part(&own);
		pthread_join(t, 0);
		tell(k, began, own);
		MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
}

/* A halo of one value to each side of a ring, put into windows that only the
   neighbours open: post, start, complete, wait. */
static void epochs(void) {
	int *box, v = me, sides[2] = {(me + np - 1) % np, (me + 1) % np};
	MPI_Win window;
	MPI_Group world, near;
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 2, sides, &near);
	MPI_Win_allocate(2 * sizeof *box, sizeof *box, MPI_INFO_NULL, MPI_COMM_WORLD, &box, &window);
	for (int k = 0; k < 15; k++) {
		MPI_Win_post(near, 0, window);
		work(k, 8);
		MPI_Win_start(near, 0, window);
		MPI_Put(&v, 1, MPI_INT, sides[0], 1, 1, MPI_INT, window);
		MPI_Put(&v, 1, MPI_INT, sides[1], 0, 1, MPI_INT, window);
		MPI_Win_complete(window);
		MPI_Win_wait(window);
	}
	MPI_Group_free(&near);
	MPI_Group_free(&world);
	MPI_Win_free(&window);
}

/* Ranks add to a sum that rank 0 holds, one after the other under a lock; the
   work on it is done while it is held. */
static void locks(void) {
	double *sum, v = me;
	MPI_Win window;
	MPI_Win_allocate(sizeof *sum, sizeof *sum, MPI_INFO_NULL, MPI_COMM_WORLD, &sum, &window);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int k = 0; k < 10; k++) {
		nap(3);
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
		MPI_Get(&v, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, window);
		MPI_Win_flush(0, window);
		work(k, 2);
		MPI_Put(&v, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, window);
		MPI_Win_unlock(0, window);
	}
	MPI_Win_free(&window);
}

/* A sum over a tree of ranks, and the result back down the same tree. */
static void tree(void) {
	int up = (me - 1) / 2, left = 2 * me + 1, v = me, in;
	for (int k = 0; k < 14; k++) {
		work(k, 7);
		for (int c = left; c < left + 2 && c < np; c++)
			MPI_Recv(&in, 1, MPI_INT, c, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (me > 0) {
			MPI_Send(&v, 1, MPI_INT, up, 3, MPI_COMM_WORLD);
			MPI_Recv(&in, 1, MPI_INT, up, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		}
		for (int c = left; c < left + 2 && c < np; c++)
			MPI_Send(&v, 1, MPI_INT, c, 4, MPI_COMM_WORLD);
	}
}

/* A sum over all ranks is under way while the next part is worked on. */
static void later(void) {
	double v = me, sum;
	for (int k = 0; k < 14; k++) {
		MPI_Request r;
		nap(3);
		MPI_Iallreduce(&v, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &r);
		work(k, 6);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
	}
}

/* Rank 0 takes a value of each of the others as they come, and answers all. */
static void star(void) {
	int v = me, in;
	for (int k = 0; k < 14; k++) {
		work(k, 6);
		if (me > 0) {
			MPI_Send(&v, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
			MPI_Recv(&in, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			continue;
		}
		for (int i = 1; i < np; i++)
			MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		for (int i = 1; i < np; i++)
			MPI_Send(&v, 1, MPI_INT, i, 6, MPI_COMM_WORLD);
	}
}

/* All ranks write their part of one file together, then go on. */
static void files(void) {
	char name[4096];
	int v[64] = {0};
	MPI_File file;
	snprintf(name, sizeof name, "%s.data", told);
	MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
	for (int k = 0; k < 12; k++) {
		work(k, 10);
		MPI_File_write_at_all(file, (k * np + me) * sizeof v, v, 64, MPI_INT, MPI_STATUS_IGNORE);
	}
	MPI_File_close(&file);
}

/* Groups of three add up, their leaders among themselves, and tell their group. */
static void groups(void) {
	MPI_Comm group, leaders;
	double v = me, sum = 0, all = 0;
	MPI_Comm_split(MPI_COMM_WORLD, me / 3, me, &group);
	MPI_Comm_split(MPI_COMM_WORLD, me % 3 == 0 ? 0 : MPI_UNDEFINED, me, &leaders);
	for (int k = 0; k < 14; k++) {
		work(k, 7);
		MPI_Reduce(&v, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, group);
		if (leaders != MPI_COMM_NULL) MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, leaders);
		MPI_Bcast(&all, 1, MPI_DOUBLE, 0, group);
	}
	if (leaders != MPI_COMM_NULL) MPI_Comm_free(&leaders);
	MPI_Comm_free(&group);
}

/* The root deals out uneven parts and collects them again. */
static void parts(void) {
	int n[64], at[64], all = 0;
	for (int i = 0; i < np; i++) n[i] = 100 * (1 + i % 3), at[i] = all, all += n[i];
	int *whole = calloc(all, sizeof *whole), *own = calloc(n[me], sizeof *own);
	for (int k = 0; k < 14; k++) {
		MPI_Scatterv(whole, n, at, MPI_INT, own, n[me], MPI_INT, 0, MPI_COMM_WORLD);
		work(k, 2 * (1 + me % 3));
		MPI_Gatherv(own, n[me], MPI_INT, whole, n, at, MPI_INT, 0, MPI_COMM_WORLD);
	}
	free(own), free(whole);
}

/* The next block is on its way from a root that moves while this one is used. */
static void ahead(void) {
	int block[2] = {0, 0};
	MPI_Request r[2];
	MPI_Ibcast(&block[0], 1, MPI_INT, 0, MPI_COMM_WORLD, &r[0]);
	for (int k = 0; k < 14; k++) {
		int next = (k + 1) % 2;
		MPI_Ibcast(&block[next], 1, MPI_INT, (k + 1) % np, MPI_COMM_WORLD, &r[next]);
		MPI_Wait(&r[k % 2], MPI_STATUS_IGNORE);
		work(k, 8);
	}
	MPI_Wait(&r[0], MPI_STATUS_IGNORE);
}

/* A halo by requests that are made once and started again and again. */
static void kept(void) {
	int in[2], out[2] = {me, me}, left = (me + np - 1) % np, right = (me + 1) % np;
	MPI_Request r[4];
	MPI_Recv_init(&in[0], 1, MPI_INT, left, 7, MPI_COMM_WORLD, &r[0]);
	MPI_Recv_init(&in[1], 1, MPI_INT, right, 8, MPI_COMM_WORLD, &r[1]);
	MPI_Send_init(&out[0], 1, MPI_INT, right, 7, MPI_COMM_WORLD, &r[2]);
	MPI_Send_init(&out[1], 1, MPI_INT, left, 8, MPI_COMM_WORLD, &r[3]);
	for (int k = 0; k < 14; k++) {
		MPI_Startall(2, r);
		work(k, 7);
		MPI_Startall(2, r + 2);
		MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
	}
	for (int i = 0; i < 4; i++) MPI_Request_free(&r[i]);
}

/* Nobody knows who sends to it: synchronous sends, probes, and a barrier that is
   under way when all sends are taken. */
static void consensus(void) {
	for (int k = 0; k < 12; k++) {
		int v = k, in, found, done = 0, all = 0;
		MPI_Request sent, barrier;
		MPI_Status from;
		work(k, 8);
		MPI_Issend(&v, 1, MPI_INT, (me + 1 + k % (np - 1)) % np, 100 + k, MPI_COMM_WORLD, &sent);
		while (!all) {
			MPI_Iprobe(MPI_ANY_SOURCE, 100 + k, MPI_COMM_WORLD, &found, &from);
			if (found) MPI_Recv(&in, 1, MPI_INT, from.MPI_SOURCE, 100 + k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			if (done)
				MPI_Test(&barrier, &all, MPI_STATUS_IGNORE);
			else if (MPI_Test(&sent, &done, MPI_STATUS_IGNORE), done)
				MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
			nap(0.1);
		}
	}
}

/* A transform over a grid of two rows of ranks: blocks of uneven size change
   hands along the rows, then along the columns. The delay is before the second. */
static void transpose(void) {
	MPI_Comm line[2];
	int cols = np / 2;
	MPI_Comm_split(MPI_COMM_WORLD, me / cols, me, &line[0]);
	MPI_Comm_split(MPI_COMM_WORLD, me % cols, me, &line[1]);
	for (int k = 0; k < 12; k++)
		for (int d = 0; d < 2; d++) {
			int n, r, out[8], to[8], in[8], from[8], a[4096] = {0}, b[4096];
			MPI_Comm_size(line[d], &n);
			MPI_Comm_rank(line[d], &r);
			for (int i = 0, x = 0, y = 0; i < n; i++) {
				out[i] = in[i] = 100 * (1 + (i + r) % 3);
				to[i] = x, from[i] = y, x += out[i], y += in[i];
			}
			if (d == 1)
				work(k, 5);
			else
				nap(4);
			MPI_Alltoallv(a, out, to, MPI_INT, b, in, from, MPI_INT, line[d]);
		}
	MPI_Comm_free(&line[0]);
	MPI_Comm_free(&line[1]);
}

/* Sweeps over a grid of two rows that begin in each of its four corners in turn. */
static void corners(void) {
	int cols = np / 2, row = me / cols, col = me % cols, v = 0, w = 0;
	for (int k = 0; k < 12; k++) {
		int dx = k % 2 ? -1 : 1, dy = k % 4 < 2 ? 1 : -1;
		MPI_Request r[2];
		int n = 0;
		if (col - dx >= 0 && col - dx < cols) MPI_Recv(&v, 1, MPI_INT, me - dx, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (row - dy >= 0 && row - dy < 2) MPI_Recv(&w, 1, MPI_INT, me - dy * cols, 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		work(k, 5);
		if (col + dx >= 0 && col + dx < cols) MPI_Isend(&v, 1, MPI_INT, me + dx, 11, MPI_COMM_WORLD, &r[n++]);
		if (row + dy >= 0 && row + dy < 2) MPI_Isend(&w, 1, MPI_INT, me + dy * cols, 12, MPI_COMM_WORLD, &r[n++]);
		MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
	}
}

/* Who has nothing left asks the others for work, one after the other; who works
   looks between two pieces whether somebody asks. */
static void steal(void) {
	for (int k = 0; k < 8; k++) {
		int left = 3 + 3 * ((me + k) % 2), begun = 0, asked = 0, waiting = 0, over = 0, victim = (me + 1) % np, found, got;
		MPI_Request end = MPI_REQUEST_NULL;
		MPI_Status from;
		while (!over) {
			MPI_Iprobe(MPI_ANY_SOURCE, 20 + k, MPI_COMM_WORLD, &found, &from);
			if (found) {
				int give = left > 1;
				MPI_Recv(&got, 1, MPI_INT, from.MPI_SOURCE, 20 + k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
				MPI_Send(&give, 1, MPI_INT, from.MPI_SOURCE, 40 + k, MPI_COMM_WORLD);
				left -= give;
			} else if (left > 0) {
				if (begun++ == 0)
					work(k, 3);
				else
					nap(3);
				left--;
			} else if (waiting) {
				MPI_Iprobe(victim, 40 + k, MPI_COMM_WORLD, &found, &from);
				if (found) {
					MPI_Recv(&got, 1, MPI_INT, victim, 40 + k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
					waiting = 0, left += got;
					victim = (victim + 1) % np == me ? (victim + 2) % np : (victim + 1) % np;
				} else
					nap(0.1);
			} else if (asked < np - 1) {
				MPI_Send(&me, 1, MPI_INT, victim, 20 + k, MPI_COMM_WORLD);
				asked++, waiting = 1;
			} else {
				if (end == MPI_REQUEST_NULL) MPI_Ibarrier(MPI_COMM_WORLD, &end);
				MPI_Test(&end, &over, MPI_STATUS_IGNORE);
				nap(0.1);
			}
		}
	}
}

/* A factorization: the owner of a panel works on it and sends it along its row,
   then the pivots down the columns; the panel moves. */
static void panels(void) {
	MPI_Comm row, col;
	int cols = np / 2;
	double p[64] = {0}, q[64] = {0}, best, own = me;
	MPI_Comm_split(MPI_COMM_WORLD, me / cols, me, &row);
	MPI_Comm_split(MPI_COMM_WORLD, me % cols, me, &col);
	for (int k = 0; k < 12; k++) {
		if (me % cols == k % cols) MPI_Allreduce(&own, &best, 1, MPI_DOUBLE, MPI_MAX, col);
		MPI_Bcast(p, 64, MPI_DOUBLE, k % cols, row);
		MPI_Bcast(q, 64, MPI_DOUBLE, k % 2, col);
		work(k, 6);
	}
	MPI_Comm_free(&row);
	MPI_Comm_free(&col);
}

/* A counter that rank 0 holds says which task is next; results are added up at
   the end of each round. */
static void counter(void) {
	int *next, one = 1, mine;
	double v = me, sum;
	MPI_Win window;
	MPI_Win_allocate(sizeof *next, sizeof *next, MPI_INFO_NULL, MPI_COMM_WORLD, &next, &window);
	*next = 0;
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, window);
	for (int k = 0; k < 10; k++) {
		for (int n = 0; n < 2; n++) {
			MPI_Fetch_and_op(&one, &mine, MPI_INT, 0, 0, MPI_SUM, window);
			MPI_Win_flush(0, window);
			if (n)
				work(k, 4);
			else
				nap(4);
		}
		MPI_Allreduce(&v, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	MPI_Win_unlock_all(window);
	MPI_Win_free(&window);
}

/* Particles move to neighbours: how many is told first, then as many come. */
static void particles(void) {
	int buf[1024] = {0}, in[1024], side[2] = {(me + np - 1) % np, (me + 1) % np};
	for (int k = 0; k < 12; k++) {
		int n[2] = {10 + (me * 7 + k) % 30, 5 + (me + 3 * k) % 20}, m[2];
		MPI_Request r[4];
		work(k, 7);
		for (int s = 0; s < 2; s++) MPI_Irecv(&m[s], 1, MPI_INT, side[s], 30 + s, MPI_COMM_WORLD, &r[s]);
		for (int s = 0; s < 2; s++) MPI_Send(&n[s], 1, MPI_INT, side[s], 31 - s, MPI_COMM_WORLD);
		for (int left = 2, i; left > 0; left--) {
			MPI_Waitany(2, r, &i, MPI_STATUS_IGNORE);
			MPI_Irecv(in + 512 * i, m[i], MPI_INT, side[i], 40 + i, MPI_COMM_WORLD, &r[2 + i]);
		}
		for (int s = 0; s < 2; s++) MPI_Send(buf, n[s], MPI_INT, side[s], 41 - s, MPI_COMM_WORLD);
		MPI_Waitall(2, r + 2, MPI_STATUSES_IGNORE);
		nap(2);
	}
}

int main(int c, char **v) {
	int level;
	MPI_Init_thread(&c, &v, MPI_THREAD_FUNNELED, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &np);
	late_rank = atoi(v[2]), late_step = atoi(v[3]), late_ms = atof(v[4]), told = v[5];
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	struct {
		const char *name;
		void (*run)(void);
	} kinds[] = {{"wave", wave}, {"farm", farm}, {"neighbours", neighbours}, {"fence", fence}, {"hybrid", hybrid}, {"epochs", epochs},
		{"locks", locks}, {"tree", tree}, {"later", later}, {"star", star}, {"files", files},
		{"groups", groups}, {"parts", parts}, {"ahead", ahead}, {"kept", kept}, {"consensus", consensus},
		{"transpose", transpose}, {"corners", corners}, {"steal", steal},
		{"panels", panels}, {"counter", counter}, {"particles", particles}};
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
		if (!strcmp(v[1], kinds[k].name)) kinds[k].run();
	MPI_Barrier(MPI_COMM_WORLD);
	if (me == late_rank) { /* here, where no computation holds the time that it takes */
		FILE *f = fopen(told, "w");
		fprintf(f, "%f\n", late_by);
		fclose(f);
	}
	MPI_Finalize();
	return 0;
}
