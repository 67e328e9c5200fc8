/* Programs that do what few do, and that a recorder might disturb. Each prints what
 * it found, which is the same every time, and ends with a number of its own. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/sched.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

extern char **environ;

static volatile unsigned long sink; /* so that no compiler leaves the work out */

/* Works for a moment, allocates, and returns something to print. */
static unsigned long busy(int rounds)
{
	unsigned long h = 1469598103934665603ul;
	for (int r = 0; r < rounds; r++) {
		unsigned char *p = malloc(8192 + r % 7 * 4096);
		for (int i = 0; i < 8192; i++) {
			p[i] = i * 31 + r;
			h = (h ^ p[i]) * 1099511628211ul;
		}
		sink = h;
		free(p);
	}
	return h;
}

/* Forks twice and lives on when its parent has ended. */
static int daemonize(void)
{
	if (fork())
		_exit(0);
	setsid();
	if (fork())
		_exit(0);
	for (int i = 0; i < 3; i++)
		close(i);
	int fd = open("daemon.part", O_WRONLY | O_CREAT, 0600);
	dprintf(fd, "%d %lx\n", fd, busy(2000));
	close(fd);
	return rename("daemon.part", "daemon.out");
}

/* Closes whatever is open: the next files have the numbers that it expects. */
static int closes(void)
{
	unsigned long before = busy(300);
	for (int i = 3; i < 1024; i++)
		close(i);
	int a = open("/dev/null", O_RDONLY), b = open("/dev/zero", O_RDONLY);
	unsigned long after = busy(3000); /* the log grows meanwhile */
	int c = dup(a);
	printf("%d %d %d %lx %lx\n", a, b, c, before, after);
	for (int i = 3; i < 1024; i++)
		if (fcntl(i, F_GETFD) != -1)
			printf("open: %d\n", i);
	return 21;
}

static volatile sig_atomic_t traps, ticks;
static void on_trap(int n) { (void)n; traps++; }
static void on_tick(int n) { (void)n; ticks++; }

/* Has handlers of its own for what debuggers and profilers use. */
static int handlers(void)
{
	struct itimerval every = {{0, 2000}, {0, 2000}}, none = {{0, 0}, {0, 0}};
	signal(SIGTRAP, on_trap);
	signal(SIGPROF, on_tick);
	setitimer(ITIMER_PROF, &every, 0);
	unsigned long h = 0;
	for (int i = 0; i < 100; i++) {
		raise(SIGTRAP);
		h ^= busy(30);
	}
	while (ticks < 5)
		h ^= busy(2);
	setitimer(ITIMER_PROF, &none, 0);
	printf("%d traps, ticks %s\n", traps, ticks >= 5 ? "came" : "are missing");
	return h == 42 ? 1 : 22;
}

/* Starts many programs by vfork and by posix_spawn. */
static int storm(void)
{
	char *args[] = {"true", 0};
	int ended = 0, status;
	for (int i = 0; i < 100; i++) {
		pid_t pid = vfork();
		if (pid == 0) {
			execv("/bin/true", args);
			_exit(99);
		}
		pid_t other;
		if (posix_spawn(&other, "/bin/true", 0, 0, args, environ))
			return 1;
		waitpid(pid, &status, 0);
		ended += WIFEXITED(status) && WEXITSTATUS(status) == 0;
		waitpid(other, &status, 0);
		ended += WIFEXITED(status) && WEXITSTATUS(status) == 0;
	}
	printf("%d of 200 ended well, %lx\n", ended, busy(500));
	return 23;
}

/* Debugs its own child, step by step. */
static int debugs(void)
{
	pid_t pid = fork();
	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, 0, 0))
			_exit(98);
		raise(SIGSTOP);
		_exit(busy(2000) & 63);
	}
	int status, stops = 0, steps = 0;
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		stops += WSTOPSIG(status) == SIGSTOP;
		if (ptrace(steps++ < 200 ? PTRACE_SINGLESTEP : PTRACE_CONT, pid, 0, 0))
			break;
	}
	printf("%d stops, %s, ended with %d\n", stops, steps > 200 ? "200 steps" : "fewer steps", WEXITSTATUS(status));
	return 24;
}

static ucontext_t here, there;
static unsigned long found;
static void other_side(void)
{
	for (int i = 0; i < 500; i++) {
		found += busy(3);
		swapcontext(&there, &here);
	}
}

/* Runs on stacks of its own, of a page or two, and on one for signals. */
static int coroutines(void)
{
	size_t size = 64 << 10;
	char *stack = mmap(0, size + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(stack + 4096, size, PROT_READ | PROT_WRITE);
	getcontext(&there);
	there.uc_stack.ss_sp = stack + 4096;
	there.uc_stack.ss_size = size;
	there.uc_link = &here;
	makecontext(&there, other_side, 0);
	int turns = 0;
	for (int i = 0; i < 500; i++, turns++)
		swapcontext(&here, &there);
	printf("%d turns, %lx\n", turns, found);
	return 25;
}

static void *leaves(void *arg)
{
	(void)arg;
	usleep(20000);
	printf("%lx\n", busy(1500));
	fflush(stdout);
	exit(26);
}

/* The first thread ends before the others. */
static int orphans(void)
{
	pthread_t t;
	pthread_create(&t, 0, leaves, 0);
	pthread_exit(0);
}

/* Wants nobody to look at its memory, and has little room for files. */
static int hides(void)
{
	struct rlimit few = {8, 8};
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	setrlimit(RLIMIT_NOFILE, &few);
	int fds[8], n = 0;
	while (n < 8 && (fds[n] = dup(1)) >= 0)
		n++;
	printf("%d files, then %s; %lx\n", n, strerror(errno), busy(3000));
	return 27;
}

/* A copy of the process, by the system call itself: nobody who takes over fork sees it. */
static pid_t copy(void)
{
	struct clone_args args = {.exit_signal = SIGCHLD};
	return syscall(SYS_clone3, &args, sizeof args);
}

/* Children that never start a program, by both ways, two deep; some of them crash. */
static int forks(void)
{
	int ended[4] = {0}, status;
	for (int i = 0; i < 24; i++) {
		pid_t pid = i % 2 ? fork() : copy();
		if (pid == 0) {
			struct rlimit none = {0, 0};
			setrlimit(RLIMIT_CORE, &none);
			unsigned long h = busy(40);
			pid_t below = i % 3 ? fork() : copy();
			if (below == 0)
				_exit(busy(20) & 31);
			waitpid(below, &status, 0);
			if (i % 4 == 1)
				abort();
			if (i % 4 == 2)
				*(volatile int *)0 = 1;
			if (i % 4 == 3)
				kill(getpid(), SIGKILL);
			_exit((h ^ status) & 31);
		}
		waitpid(pid, &status, 0);
		ended[i % 4] += WIFSIGNALED(status) ? 100 * WTERMSIG(status) : WEXITSTATUS(status);
	}
	printf("%d %d %d %d, %lx\n", ended[0], ended[1], ended[2], ended[3], busy(400));
	return 28;
}

static sigjmp_buf back;
static char *lazy;
static volatile int opened, faults;
static void on_fault(int n, siginfo_t *info, void *unused)
{
	(void)n, (void)unused;
	char *at = (char *)((uintptr_t)info->si_addr & ~(uintptr_t)4095);
	faults++;
	if (at < lazy || at >= lazy + (256 << 12))
		siglongjmp(back, 1);
	opened++;
	mprotect(at, 4096, PROT_READ | PROT_WRITE);
}

/* Looks at what it must not, on purpose: to make pages when they are wanted, and to
 * find out what is there. */
static int looks(void)
{
	struct sigaction act = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	stack_t alternate = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
	sigaltstack(&alternate, 0);
	sigaction(SIGSEGV, &act, 0);
	lazy = mmap(0, 256 << 12, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned long h = 0;
	for (int i = 0; i < 256; i++) {
		lazy[i << 12] = i;
		h ^= busy(4);
	}
	for (int i = 0; i < 200; i++)
		if (!sigsetjmp(back, 1))
			*(volatile int *)(uintptr_t)(16 * i + 8) = 1;
	printf("%d pages, %d faults, %lx\n", opened, faults, h);
	return 29;
}

/* Limits itself, one after the other, until hardly anything is left. */
static int limits(void)
{
	static const int which[] = {RLIMIT_FSIZE, RLIMIT_DATA, RLIMIT_AS, RLIMIT_MEMLOCK, RLIMIT_STACK, RLIMIT_NPROC, RLIMIT_NOFILE};
	unsigned long h = busy(100);
	for (size_t i = 0; i < sizeof which / sizeof *which; i++) {
		struct rlimit small = {which[i] == RLIMIT_NOFILE || which[i] == RLIMIT_FSIZE ? 0 : 1 << 16, RLIM_INFINITY};
		struct rlimit now;
		getrlimit(which[i], &now);
		small.rlim_max = now.rlim_max;
		if (which[i] == RLIMIT_AS || which[i] == RLIMIT_DATA)
			small.rlim_cur = 512 << 20; /* some of it is ours */
		printf("%d", setrlimit(which[i], &small));
		h ^= busy(500);
	}
	void *large = malloc(1ul << 30);
	printf(" %s, %d, %lx\n", large ? "much" : "little", open("/dev/null", O_RDONLY), h);
	return 30;
}

/* Gives orders to the kernel through memory that both share, where that is allowed. */
static int rings(void)
{
	struct io_uring_params p = {0};
	int fd = syscall(SYS_io_uring_setup, 8, &p), done = 0;
	if (fd < 0) {
		printf("no rings: %s, %lx\n", strerror(errno), busy(500));
		return 31;
	}
	size_t size = p.sq_off.array + p.sq_entries * 4 + p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe);
	char *ring = mmap(0, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, IORING_OFF_SQ_RING);
	struct io_uring_sqe *orders = mmap(0, p.sq_entries * sizeof *orders, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, IORING_OFF_SQES);
	unsigned long h = 0;
	for (unsigned i = 0; i < 200 && ring != MAP_FAILED; i++) {
		unsigned at = i & (p.sq_entries - 1);
		memset(&orders[at], 0, sizeof *orders);
		orders[at].opcode = IORING_OP_NOP;
		((unsigned *)(ring + p.sq_off.array))[at] = at;
		__atomic_store_n((unsigned *)(ring + p.sq_off.tail), i + 1, __ATOMIC_RELEASE);
		done += syscall(SYS_io_uring_enter, fd, 1, 1, IORING_ENTER_GETEVENTS, 0, 0);
		__atomic_store_n((unsigned *)(ring + p.cq_off.head), i + 1, __ATOMIC_RELEASE);
		h ^= busy(5);
	}
	printf("file %d, %d orders, %lx\n", fd, done, h);
	return 31;
}

/* Closes a whole range at once, then becomes somebody who may do little. */
static int drops(void)
{
	unsigned long h = busy(200);
	printf("%ld", syscall(SYS_close_range, 3, ~0u, 0));
	printf(" %d %d %d", setgid(65534), setuid(65534), open("/etc/shadow", O_RDONLY));
	printf(" %d, %lx\n", open("/dev/null", O_RDONLY), h ^ busy(3000));
	return 32;
}

static void *crashes(void *arg)
{
	volatile int *none = 0;
	printf("%lx\n", busy(1000));
	fflush(stdout);
	*none = 1;
	return arg;
}

/* Crashes in another thread than the first, while that allocates. */
static int crash(void)
{
	struct rlimit none = {0, 0};
	pthread_t t;
	setrlimit(RLIMIT_CORE, &none);
	pthread_create(&t, 0, crashes, 0);
	for (;;)
		busy(1);
}

int main(int argc, char **argv)
{
	static const struct { const char *name; int (*run)(void); } all[] = {
		{"daemon", daemonize}, {"closes", closes}, {"handlers", handlers}, {"storm", storm}, {"debugs", debugs},
		{"coroutines", coroutines}, {"orphans", orphans}, {"hides", hides}, {"forks", forks}, {"looks", looks}, {"limits", limits},
		{"rings", rings}, {"drops", drops}, {"crash", crash},
	};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (argc > 1 && !strcmp(all[i].name, argv[1]))
			return all[i].run();
	return 2;
}
