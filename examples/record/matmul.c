/*
 * Product of two matrices in the order that walks b by columns: each step of
 * the inner loop touches another line of memory. Record it with
 *
 *     cc -O2 -g -o matmul matmul.c && isobath record -- ./matmul 512
 *
 * and nearly all time is spent at b.
 */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 512;
	double *a = malloc(sizeof *a * n * n);
	double *b = malloc(sizeof *b * n * n);
	double *c = malloc(sizeof *c * n * n);
	if (!a || !b || !c)
		return 1;
	for (int i = 0; i < n * n; i++) {
		a[i] = i % 7;
		b[i] = i % 5;
	}
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			double sum = 0;
			for (int k = 0; k < n; k++)
				sum += a[i * n + k] * b[k * n + j];
			c[i * n + j] = sum;
		}
	printf("%.0f\n", c[n * n - 1]);
	return 0;
}
