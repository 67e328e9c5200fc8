#include "count.h"
#include <signal.h>
static volatile int ticks;
static int sent[64], data[64];
static void handler(int n)
{
	ENTER(1);
	for (int i = 0; i < 5; i++) {
		TURN(1);
		sent[(ticks + i) & 63] += n;
	}
	ticks++;
}
KERNEL int run(int n)
{
	int s = 0;
	ENTER(0);
	for (int i = 0; i < n; i++) {
		TURN(0);
		data[i & 63] += i;
		if (i % 7 == 3)
			raise(SIGUSR1);
		int k = i;
		ENTER(2);
		while (k > 2) {
			TURN(2);
			s += data[k & 63];
			k = k * 2 / 3;
		}
	}
	return s;
}
int main(int argc, char **argv)
{
	signal(SIGUSR1, handler);
	int s = run(argc + 29);
	report();
	return s == -1;
}
