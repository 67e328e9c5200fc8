/* Gives up most system calls, or the time, and goes on allocating, as programs that read what
 * strangers send do. What is not allowed any more ends the process at once. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ALLOW(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static struct sock_filter allowed[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	ALLOW(write), ALLOW(exit), ALLOW(brk), ALLOW(mmap), ALLOW(munmap),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};

static int confine(const char *how)
{
	struct sock_fprog filter = {sizeof allowed / sizeof *allowed, allowed};
	if (!strcmp(how, "time"))
		return prctl(PR_SET_TSC, PR_TSC_SIGSEGV); /* the clock reads that counter too */
	if (!strcmp(how, "strict"))
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	if (!strcmp(how, "prctl"))
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter); /* as libseccomp does */
}

/* Each call has a stack of its own: depth differs, and so does what is on it. */
static __attribute__((noinline)) long work(int depth, int i)
{
	volatile char room[40];
	room[i % 40] = i;
	if (depth > 0)
		return work(depth - 1, i) + (room[i % 40] == 0);
	size_t n = i % 3 ? 9000 : 100;
	char *p = calloc(1, n);
	p[n / 2] = i;
	p = realloc(p, 2 * n);
	long got = p[n / 2];
	free(p);
	return got;
}

int main(int argc, char **argv)
{
	int before = atoi(argv[2]);
	long sum = 0;
	free(malloc(100000)); /* strictly confined, it must do with what it has */
	for (int i = 0; i < before; i++)
		sum += work(i % 50, i);
	if (confine(argv[1]))
		return 3;
	for (int i = 0; i < 5000; i++)
		sum += work(i % 50, i);
	char text[64];
	int n = snprintf(text, sizeof text, "%ld\n", sum);
	if (write(1, text, n) != n)
		return 4;
	syscall(SYS_exit, 5);
	return 6;
}
