/*
 * A walk along a list whose nodes lie in random order: every step waits for the
 * one before it.
 *
 *     cc -O2 -g -o chase chase.c && isobath record -- ./chase 4000000 20000000
 */
#include <stdio.h>
#include <stdlib.h>

struct node {
	struct node *next;
	long value;
	char rest[48];
};

int main(int argc, char **argv)
{
	size_t n = argc > 1 ? strtoul(argv[1], 0, 10) : 1000000;
	size_t steps = argc > 2 ? strtoul(argv[2], 0, 10) : 10000000;
	struct node *nodes = malloc(n * sizeof *nodes);
	size_t *order = malloc(n * sizeof *order);
	if (!nodes || !order || !n)
		return 1;
	unsigned long long random = 88172645463325252ull;
	for (size_t i = 0; i < n; i++)
		order[i] = i;
	for (size_t i = n - 1; i > 0; i--) {
		random ^= random << 13, random ^= random >> 7, random ^= random << 17;
		size_t j = random % (i + 1), other = order[i];
		order[i] = order[j];
		order[j] = other;
	}
	for (size_t i = 0; i < n; i++) {
		nodes[order[i]].next = &nodes[order[(i + 1) % n]];
		nodes[order[i]].value = (long)i;
	}
	free(order);
	struct node *at = nodes;
	for (size_t i = 0; i < steps; i++)
		at = at->next;
	printf("%ld\n", at->value);
	return 0;
}
