#include "count.h"
static unsigned char in[600], out[1300];
static int written;
KERNEL void run(void)
{
	const unsigned char *p = in, *end = in + sizeof in;
	unsigned char *q = out;
	ENTER(0);
	while (p < end) {
		TURN(0);
		unsigned char c = *p;
		int n = 0;
		ENTER(1);
		do {
			TURN(1);
			n++, p++;
		} while (p < end && *p == c && n < 9);
		*q++ = n;
		*q++ = c;
	}
	written = q - out;
}
int main(void)
{
	for (int i = 0; i < 600; i++)
		in[i] = random_number() % 7 ? (i ? in[i - 1] : 0) : random_number();
	run();
	report();
	return written == 0;
}
