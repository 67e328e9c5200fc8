/*
 * A heat equation on a box, by several threads, that tells Isobath what its
 * buffers are and which iteration it is in.
 *
 *     cc -O2 -g -fopenmp -I ../../clients -o stencil stencil.c
 *     isobath record -- ./stencil 160 20
 *     isobath report stencil.isobath --by symbol
 *     isobath open stencil.isobath
 */
#include <stdio.h>
#include <stdlib.h>

#include "isobath.h"

#define AT(x, y, z) (((size_t)(z) * n + (y)) * n + (x))

static void step(const double *from, double *to, int n)
{
#pragma omp parallel for
	for (int z = 1; z < n - 1; z++)
		for (int y = 1; y < n - 1; y++)
			for (int x = 1; x < n - 1; x++)
				to[AT(x, y, z)] = (from[AT(x, y, z)] * 2 + from[AT(x - 1, y, z)] + from[AT(x + 1, y, z)] + from[AT(x, y - 1, z)] +
						   from[AT(x, y + 1, z)] + from[AT(x, y, z - 1)] + from[AT(x, y, z + 1)]) / 8;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 128, steps = argc > 2 ? atoi(argv[2]) : 20;
	size_t cells = (size_t)n * n * n;
	double *u = calloc(cells, sizeof *u), *v = calloc(cells, sizeof *v);
	if (!u || !v || n < 3)
		return 1;
	isobath_buffer3("u", u, sizeof *u, n, n, n);
	isobath_buffer3("v", v, sizeof *v, n, n, n);
	isobath_phase("phase", "fill");
	for (size_t i = 0; i < cells; i++)
		u[i] = i % 17;
	isobath_phase("phase", "smooth");
	for (int it = 0; it < steps; it++) {
		isobath_state("iteration", it);
		step(it % 2 ? v : u, it % 2 ? u : v, n);
	}
	printf("%g\n", u[AT(n / 2, n / 2, n / 2)]);
	return 0;
}
