#include "count.h"
#define N 500
static char composite[N + 1];
static int primes[N], found;
KERNEL void run(void)
{
	ENTER(0);
	for (int i = 2; i <= N; i++) {
		TURN(0);
		if (composite[i])
			continue;
		primes[found++] = i;
		ENTER(1);
		for (int j = i * i; j <= N; j += i) {
			TURN(1);
			composite[j] = 1;
		}
	}
}
int main(void)
{
	run();
	report();
	return found != 95;
}
