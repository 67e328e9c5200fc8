// Handlers that interrupt computing and library calls, on the stack of the
// program. They are raised by the count, not by a clock.
#include <signal.h>
#include <stdio.h>
#include <time.h>
#define NOINLINE __attribute__((noinline))
volatile unsigned long sink;
NOINLINE void burn(int n)
{
	unsigned long x = n;
	for (int i = 0; i < 100000; i++)
		x = x * 6364136223846793005UL + i;
	sink += x;
}
NOINLINE void handler(int number)
{
	burn(number);
	sink++;
}
NOINLINE void inner(int n)
{
	burn(n);
	raise(n & 1 ? SIGUSR1 : SIGUSR2);
	sink++;
}
NOINLINE void outer(int n)
{
	volatile char p[100];
	p[n % 100] = 1;
	inner(n);
	p[n % 100]++;
}
int main(void)
{
	struct sigaction a = {0};
	a.sa_handler = handler;
	sigaction(SIGUSR1, &a, 0);
	sigaction(SIGUSR2, &a, 0);
	for (int i = 0; clock() < CLOCKS_PER_SEC * 3 / 10; i++)
		outer(i);
	printf("%lu\n", sink);
}
