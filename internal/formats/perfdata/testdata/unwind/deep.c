// Calls of every shape a compiler lays out differently, for so many tenths of a
// second of processor time, however fast the machine is: leaves, large frames, frames of variable
// size, recursion within and beyond the copy of the stack, calls back from a
// library and from the C library, system calls, and the kernel's own library.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#define NOINLINE __attribute__((noinline))
volatile unsigned long sink;
extern unsigned long library(int n, unsigned long (*back)(int));
NOINLINE unsigned long work(int n)
{
	unsigned long x = n;
	for (int i = 0; i < 200000; i++)
		x = x * 6364136223846793005UL + i;
	return sink += x;
}
NOINLINE unsigned long leaf(int n)
{
	char buf[64];
	memset(buf, n, sizeof buf);
	return work(n) + buf[n & 63];
}
NOINLINE unsigned long big(int n)
{
	volatile char pad[3000];
	pad[n] = 1;
	return leaf(n) + pad[n];
}
NOINLINE unsigned long recurse(int n)
{
	volatile long pad[6];
	pad[n % 6] = n;
	return (n ? recurse(n - 1) : leaf(n)) + pad[n % 6];
}
NOINLINE unsigned long variable(int n)
{
	volatile char *p = __builtin_alloca(n * 16 + 16);
	p[0] = n;
	return leaf(n) + p[0];
}
NOINLINE unsigned long clocks(int n)
{
	struct timespec t;
	for (int i = 0; i < 20000; i++) {
		clock_gettime(CLOCK_MONOTONIC, &t);
		sink += t.tv_nsec + n;
	}
	return sink;
}
NOINLINE unsigned long calls(int n)
{
	for (int i = 0; i < 2000; i++)
		sink += getppid() + n;
	return sink;
}
static int order(const void *a, const void *b)
{
	work(1);
	return *(int *)a - *(int *)b;
}
int main(int argc, char **argv)
{
	int tenths = argc > 1 ? atoi(argv[1]) : 3;
	while (clock() < CLOCKS_PER_SEC / 10 * tenths) {
		int v[4] = {3, 1, 4, 2};
		sink += leaf(3) + big(5) + recurse(5) + recurse(40) + recurse(400) + variable(9);
		sink += library(3, leaf) + library(5, recurse) + clocks(1) + calls(2);
		qsort(v, 4, sizeof *v, order);
	}
	printf("%lu\n", sink);
}
