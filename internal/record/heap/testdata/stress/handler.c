/* Allocates in a handler of signals, while the log asks the kernel for room. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

static int handled;
static void *volatile kept;

static void handler(int number, siginfo_t *info, void *context)
{
	handled++;
	kept = malloc(6000);
#ifdef __x86_64__
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = -ENOSYS;
#else
	((ucontext_t *)context)->uc_mcontext.regs[0] = -ENOSYS;
#endif
}

static struct sock_filter room[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_fallocate, 0, 1),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_NODEFER};
	struct sock_fprog filter = {sizeof room / sizeof *room, room};
	sigaction(SIGSYS, &action, 0);
	if (argc > 1)
		kept = malloc(9000); /* the log is open */
	/* By the call itself: a library that sees it would end the log. */
	if (syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0))
		return 3;
	for (int i = 0; i < 10000; i++) {
		kept = malloc(9000);
		if (i % 2)
			free(kept);
	}
	if (getenv("ISOBATH_HEAP_DIR") && !handled)
		return 4;
	puts("done");
	return 5;
}
