#include "count.h"
static char a[300], b[300];
static int x[100], y[100];
KERNEL void run(void)
{
	ENTER(0);
	for (int i = 0; i < 300; i++) {
		TURN(0);
		b[i] = a[i];
	}
	ENTER(1);
	for (int i = 0; i < 100; i++) {
		TURN(1);
		x[i] = 0;
	}
	ENTER(2);
	for (int i = 0; i < 100; i++) {
		TURN(2);
		x[i] = 7;
		y[i] = i;
	}
	const char *p = a;
	char *q = b;
	ENTER(3);
	while ((*q++ = *p++)) {
		TURN(3);
	}
}
int main(void)
{
	for (int i = 0; i < 299; i++)
		a[i] = 'a' + random_number() % 26;
	run();
	report();
	return x[1] == 0;
}
