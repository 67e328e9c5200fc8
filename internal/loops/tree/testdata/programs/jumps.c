#include "count.h"
static int a[60], steps;
KERNEL void run(void)
{
	int i = 0;
	ENTER(0);
again:
	TURN(0);
	a[i] += 3;
	if (a[i] > 20)
		i++;
	if (i < 60)
		goto again;
	i = 5;
	if (a[0] > 22)
		goto middle;
	ENTER(1);
	while (i < 50) {
		TURN(1);
		a[i] ^= 1;
	middle:
		steps += a[i];
		i += 2;
	}
}
int main(void)
{
	for (int i = 0; i < 60; i++)
		a[i] = random_number() % 30;
	run();
	report();
	return steps == 0;
}
