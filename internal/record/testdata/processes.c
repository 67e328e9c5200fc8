/*
 * Processes that begin in every way, and memory that they share, take over,
 * free and allocate themselves. sweep_taken works on what was allocated at TAKEN
 * only, sweep_own on what was allocated at OWN only, whichever process it is.
 * Each sweeps for the same processor time, however fast the machine is, and for
 * a number of times, should the machine count time that it gave to others.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
enum { N = 1 << 15 };

static double used(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static __attribute__((noinline)) void sweep_taken(volatile double *a)
{
	for (int i = 0; i < N; i++)
		a[i];
}

static __attribute__((noinline)) void sweep_own(volatile double *a)
{
	for (int i = 0; i < N; i++)
		a[i];
}

static void work(void (*sweep)(volatile double *), double *a)
{
	double end = used() + 0.04;
	for (int i = 0; i < 500 || used() < end; i++)
		sweep(a);
}

static double *own(void)
{
	/* Returned as what memset returns: as a it would be called after the caller's variable. */
	double *a = malloc(N * sizeof *a); /* OWN */
	return memset(a, 1, N * sizeof *a);
}

static void *thread(void *taken)
{
	double *mine = own();
	work(sweep_own, mine);
	if (taken)
		work(sweep_taken, taken);
	return 0;
}

static int run_on(int cpu)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof set, &set);
}

static int join(pid_t p)
{
	int status = 1;
	return waitpid(p, &status, 0) != p || status != 0;
}

static int with_threads(double *taken)
{
	pthread_t t[4];
	for (int i = 0; i < 4; i++)
		if (pthread_create(&t[i], 0, thread, taken))
			return 1;
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], 0);
	return 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	if (!strcmp(mode, "new")) {
		work(sweep_own, own());
		return 0;
	}
	if (!strcmp(mode, "touch")) { /* a storm of page faults */
		size_t size = 128 << 20;
		volatile char *a = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (a == MAP_FAILED)
			return 1;
		madvise((void *)a, size, MADV_NOHUGEPAGE);
		for (size_t i = 0; i < size; i += 4096)
			a[i] = 1;
		return 0;
	}
	if (argc > 2 && run_on(atoi(argv[2])))
		return 1;
	double *taken = malloc(N * sizeof *taken); /* TAKEN */
	pid_t p = -1;
	if (!strcmp(mode, "fork")) { /* at once: nothing lies between malloc and fork */
		p = fork();
		work(sweep_taken, taken);
		if (p == 0)
			_exit(0);
	} else if (!strcmp(mode, "allocate")) {
		if ((p = fork()) == 0) {
			double *mine = own();
			work(sweep_own, mine);
			work(sweep_taken, taken);
			_exit(0);
		}
		work(sweep_taken, taken);
	} else if (!strcmp(mode, "free")) { /* each has what the other gave away */
		if ((p = fork()) == 0) {
			free(taken);
			double *mine = own();
			work(sweep_own, mine);
			_exit(0);
		}
		work(sweep_taken, taken);
	} else if (!strcmp(mode, "parent frees")) {
		int go[2];
		char c;
		if (pipe(go))
			return 1;
		if ((p = fork()) == 0) {
			if (read(go[0], &c, 1) != 1)
				_exit(1);
			work(sweep_taken, taken);
			_exit(0);
		}
		free(taken);
		double *mine = own();
		if (write(go[1], "x", 1) != 1)
			return 1;
		work(sweep_own, mine);
	} else if (!strcmp(mode, "grandchild")) {
		if ((p = fork()) == 0) {
			double *mine = own();
			pid_t q = fork();
			work(sweep_own, mine);
			work(sweep_taken, taken);
			_exit(q == 0 ? 0 : join(q));
		}
		work(sweep_taken, taken);
	} else if (!strcmp(mode, "exec")) {
		if ((p = fork()) == 0) {
			execl(argv[0], argv[0], "new", (char *)0);
			_exit(1);
		}
		work(sweep_taken, taken);
	} else if (!strcmp(mode, "vfork")) {
		if ((p = vfork()) == 0) {
			execl(argv[0], argv[0], "new", (char *)0);
			_exit(1);
		}
		work(sweep_taken, taken);
	} else if (!strcmp(mode, "spawn")) {
		char *args[] = {argv[0], "new", 0};
		if (posix_spawn(&p, argv[0], 0, 0, args, environ))
			return 1;
		work(sweep_taken, taken);
	} else if (!strcmp(mode, "threads")) {
		return with_threads(taken);
	} else if (!strcmp(mode, "fork with threads")) { /* each process has its own */
		p = fork();
		int bad = with_threads(taken);
		if (p == 0)
			_exit(bad);
	} else if (!strcmp(mode, "cleared")) { /* a process without an environment */
		if ((p = fork()) == 0) {
			clearenv();
			work(sweep_own, own());
			_exit(0);
		}
		work(sweep_taken, taken);
	} else if (!strcmp(mode, "elsewhere")) { /* began on one CPU, works on another */
		if ((p = fork()) == 0) {
			double *mine = own();
			if (run_on(atoi(argv[3])))
				_exit(1);
			work(sweep_own, mine);
			work(sweep_taken, taken);
			_exit(0);
		}
	}
	return join(p);
}
