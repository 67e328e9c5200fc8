/* Keeps a processor busy with accesses to a few kilobytes. */
#include <stdlib.h>

int main(int argc, char **argv)
{
	static volatile double a[512];
	long rounds = argc > 1 ? atol(argv[1]) : 400000;
	for (int i = 0; i < 512; i++)
		a[i] = i;
	for (long r = 0; r < rounds; r++)
		for (int i = 1; i < 512; i++)
			a[i] = a[i] * 0.999 + a[i - 1];
	return a[511] == 0;
}
