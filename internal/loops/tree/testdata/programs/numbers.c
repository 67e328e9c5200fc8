#include "count.h"
/* text to numbers and back, a digit a turn */
static char in[] = "12 -7 300045 0 99999 -18 5 77 1024 65536 +3 x 8";
static char out[200];
static long values[32];
static int n_values, n_out;
static long number(const char **p)
{
	long v = 0, sign = 1;
	if (**p == '-')
		sign = -1, ++*p;
	else if (**p == '+')
		++*p;
	ENTER(1);
	while (**p >= '0' && **p <= '9') {
		TURN(1);
		v = v * 10 + (*(*p)++ - '0');
	}
	return v * sign;
}
static void print(long v)
{
	char digits[24];
	int n = 0;
	if (v < 0)
		out[n_out++] = '-', v = -v;
	ENTER(2);
	do {
		TURN(2);
		digits[n++] = '0' + v % 10;
		v /= 10;
	} while (v);
	ENTER(3);
	while (n > 0) {
		TURN(3);
		out[n_out++] = digits[--n];
	}
	out[n_out++] = ' ';
}
KERNEL void run(const char *p)
{
	ENTER(0);
	while (*p) {
		TURN(0);
		ENTER(5);
		while (*p == ' ') {
			TURN(5);
			p++;
		}
		const char *before = p;
		values[n_values] = number(&p);
		if (p == before)
			p++;
		else
			n_values++;
	}
	ENTER(4);
	for (int i = 0; i < n_values; i++) {
		TURN(4);
		print(values[i]);
	}
}
int main(void)
{
	run(in);
	report();
	return n_out == 0;
}
