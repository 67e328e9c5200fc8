/* Programs that end badly, or have unusual stacks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

static ucontext_t home, away;
static void *volatile kept;

static void shallow(void)
{
	kept = malloc(5000); /* its callers' stack ends with the page */
	free(kept);
	swapcontext(&away, &home);
}

__attribute__((noinline)) static int deep(int n)
{
	volatile char room[4000];
	room[0] = n;
	kept = malloc(5000);
	return deep(n + 1) + room[0];
}

int main(int argc, char **argv)
{
	(void)argc;
	char *p = malloc(10000), *q = malloc(10);
	q[1] = 1;
	if (!strcmp(argv[1], "double free")) {
		char *volatile again = p;
		free(p);
		free(again);
	}
	if (!strcmp(argv[1], "corrupted")) { /* the next malloc sees that it is, and aborts */
		char *volatile last = malloc(24);
		memset(last, 0x41, 64);
		kept = malloc(100000);
		kept = malloc(5000);
	}
	if (!strcmp(argv[1], "abort")) {
		kept = realloc(q, 60000);
		abort();
	}
	if (!strcmp(argv[1], "stack overflow"))
		return deep(0);
	if (!strcmp(argv[1], "coroutine")) {
		char *stack = mmap(0, 3 * 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		mprotect(stack + 65536, 65536, PROT_READ | PROT_WRITE); /* with guards on both sides */
		getcontext(&away);
		away.uc_stack.ss_sp = stack + 65536;
		away.uc_stack.ss_size = 65536;
		makecontext(&away, shallow, 0);
		swapcontext(&home, &away);
	}
	puts("done");
	return 0;
}
