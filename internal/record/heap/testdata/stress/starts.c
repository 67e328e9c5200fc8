/* Gives up system calls, or only says that it wants no new privileges, and then
 * starts another program, which is itself. That one allocates. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REFUSE(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

/* What a program that only computes does not need, and neither does what loads it. */
static struct sock_filter refused[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	REFUSE(madvise), REFUSE(fallocate), REFUSE(pwrite64), REFUSE(gettid), REFUSE(prctl),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

int main(int argc, char **argv)
{
	if (!strcmp(argv[1], "work")) {
		long sum = 0;
		for (int i = 0; i < 300; i++) {
			char *p = malloc(9000);
			p[i] = i;
			sum += p[i];
			free(p);
		}
		printf("%ld\n", sum);
		return 5;
	}
	struct sock_fprog filter = {sizeof refused / sizeof *refused, refused};
	char *kept = malloc(7000);
	kept[0] = 1;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return 3;
	if (!strcmp(argv[1], "filter") && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		return 3;
	execl(argv[0], argv[0], "work", (char *)0);
	return 4;
}
