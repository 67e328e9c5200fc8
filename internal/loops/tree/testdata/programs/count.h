/* Counts what loops do, for tests: ENTER stands on the line before a loop, TURN
 * at the start of its body. Without COUNT both are nothing, so that the program
 * that is recorded is as compilers make it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef COUNT
static struct { int line; long entries, turns; } loops[32];
#define ENTER(i) (loops[i].line = __LINE__ + 1, loops[i].entries++)
#define TURN(i) loops[i].turns++
static void report(void)
{
	for (int i = 0; i < 32; i++)
		if (loops[i].line)
			printf("loop %d %ld %ld\n", loops[i].line, loops[i].entries, loops[i].turns);
}
#else
#define ENTER(i) (void)0
#define TURN(i) (void)0
#define report() (void)0
#endif

static unsigned seed = 12345;
static inline unsigned random_number(void)
{
	seed = seed * 1103515245u + 12345u;
	return seed >> 16 & 0x7fff;
}
#define KERNEL __attribute__((noinline, noclone))
