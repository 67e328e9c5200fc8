#include "count.h"
#include <setjmp.h>
static jmp_buf back;
static int a[100], tries, sum;
static __attribute__((noinline)) void check(int i)
{
	sum += a[i];
	if (a[i] % 13 == 0)
		longjmp(back, i + 1);
}
KERNEL void run(void)
{
	volatile int from = 0;
	int at = setjmp(back);
	if (at) {
		tries++;
		from = at;
	}
	ENTER(0);
	for (int i = from; i < 100; i++) {
		TURN(0);
		check(i);
	}
}
int main(void)
{
	for (int i = 0; i < 100; i++)
		a[i] = random_number();
	run();
	report();
	return tries == 0;
}
