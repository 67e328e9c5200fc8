// Elements that are reached by numbers in an array: they can be put elsewhere, and
// the numbers with them.
#include <stdio.h>
#include <stdlib.h>

struct particle { double x, v, mass, charge; };
enum { PARTICLES = 6000 };
static struct particle *p;
static int *number;

__attribute__((noinline)) double work(int rounds)
{
	double sum = 0;
	for (int t = 0; t < rounds; t++)
		for (int i = 0; i < PARTICLES; i++)
			sum += p[number[i]].x;
	return sum;
}

int main(void)
{
	p = calloc(PARTICLES, sizeof *p);
	number = malloc(PARTICLES * sizeof *number);
	for (int i = 0; i < PARTICLES; i++) {
		p[i].x = i;
		number[i] = i * 2741 % PARTICLES;
	}
	printf("%g\n", work(5));
	return 0;
}
