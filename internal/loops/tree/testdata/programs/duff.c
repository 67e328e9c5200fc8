#include "count.h"
static short from[103], to[103];
static int n = 103;
KERNEL void run(void)
{
	short *p = to, *q = from;
	int left = (n + 7) / 8;
	switch (ENTER(0), n % 8) {
	case 0: do { *p++ = *q++ + 1;
	case 7: *p++ = *q++ + 1;
	case 6: *p++ = *q++ + 1;
	case 5: *p++ = *q++ + 1;
	case 4: *p++ = *q++ + 1;
	case 3: *p++ = *q++ + 1;
	case 2: *p++ = *q++ + 1;
	case 1: *p++ = *q++ + 1; TURN(0);
		} while (--left > 0);
	}
}
int main(void)
{
	run();
	report();
	return to[1] == 0;
}
