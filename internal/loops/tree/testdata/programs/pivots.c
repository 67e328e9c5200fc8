#include "count.h"
#include <math.h>
/* fft, gauss with pivots, life, banded solver, triangular sums, bisection */
static double re[64], im[64], a[14][16], band[3][40], x[40];
static unsigned char life[2][18][18];
static void fft(int n)
{
	ENTER(0);
	for (int i = 1, j = 0; i < n; i++) {
		TURN(0);
		int bit = n >> 1;
		ENTER(1);
		for (; j & bit; bit >>= 1) {
			TURN(1);
			j ^= bit;
		}
		j ^= bit;
		if (i < j) {
			double t = re[i];
			re[i] = re[j], re[j] = t;
		}
	}
	ENTER(2);
	for (int len = 2; len <= n; len <<= 1) {
		TURN(2);
		ENTER(3);
		for (int i = 0; i < n; i += len) {
			TURN(3);
			ENTER(4);
			for (int k = 0; k < len / 2; k++) {
				TURN(4);
				double c = 1 - k * 0.01, s = k * 0.02;
				double u = re[i + k], v = re[i + k + len / 2] * c - im[i + k + len / 2] * s;
				re[i + k] = u + v;
				re[i + k + len / 2] = u - v;
				im[i + k] += s;
			}
		}
	}
}
static double gauss(int n)
{
	double det = 1;
	ENTER(5);
	for (int c = 0; c < n; c++) {
		TURN(5);
		int p = c;
		ENTER(6);
		for (int r = c + 1; r < n; r++) {
			TURN(6);
			if (fabs(a[r][c]) > fabs(a[p][c]))
				p = r;
		}
		if (a[p][c] == 0)
			return 0;
		if (p != c) {
			ENTER(7);
			for (int k = c; k <= n; k++) {
				TURN(7);
				double t = a[p][k];
				a[p][k] = a[c][k];
				a[c][k] = t;
			}
			det = -det;
		}
		det *= a[c][c];
		ENTER(8);
		for (int r = c + 1; r < n; r++) {
			TURN(8);
			double f = a[r][c] / a[c][c];
			if (f == 0)
				continue;
			ENTER(9);
			for (int k = c; k <= n; k++) {
				TURN(9);
				a[r][k] -= f * a[c][k];
			}
		}
	}
	return det;
}
static int generation(int g, int n)
{
	int alive = 0;
	ENTER(10);
	for (int i = 1; i <= n; i++) {
		TURN(10);
		ENTER(11);
		for (int j = 1; j <= n; j++) {
			TURN(11);
			int s = 0;
			ENTER(12);
			for (int d = 0; d < 9; d++) {
				TURN(12);
				if (d != 4)
					s += life[g][i + d / 3 - 1][j + d % 3 - 1];
			}
			life[!g][i][j] = s == 3 || (s == 2 && life[g][i][j]);
			alive += life[!g][i][j];
		}
	}
	return alive;
}
static double thomas(int n)
{
	ENTER(13);
	for (int i = 1; i < n; i++) {
		TURN(13);
		double w = band[0][i] / band[1][i - 1];
		band[1][i] -= w * band[2][i - 1];
		x[i] -= w * x[i - 1];
	}
	x[n - 1] /= band[1][n - 1];
	ENTER(14);
	for (int i = n - 2; i >= 0; i--) {
		TURN(14);
		x[i] = (x[i] - band[2][i] * x[i + 1]) / band[1][i];
	}
	return x[0];
}
static double root(double lo, double hi)
{
	int tries = 0;
	ENTER(15);
	while (hi - lo > 1e-6 && tries++ < 100) {
		TURN(15);
		double mid = (lo + hi) / 2;
		if (mid * mid * mid - x[3] > 2)
			hi = mid;
		else
			lo = mid;
		x[tries % 40] += mid;
	}
	return lo;
}
KERNEL int run(int n, int m)
{
	fft(32);
	double d = gauss(n);
	int alive = 0;
	ENTER(16);
	for (int g = 0; (alive = generation(g & 1, m)) > 6 && g < 5; g++) {
		TURN(16);
		life[g & 1][1][g + 1] ^= 1;
	}
	return (int)(d + alive + thomas(n + m) + root(0, 9));
}
int main(int argc, char **argv)
{
	for (int i = 0; i < 64; i++)
		re[i] = random_number() % 100;
	for (int i = 0; i < 14; i++)
		for (int k = 0; k < 16; k++)
			a[i][k] = (random_number() % 5 == 0) ? 0 : random_number() % 20;
	for (int k = 0; k < 40; k++)
		band[0][k] = 1, band[1][k] = 5, band[2][k] = 2, x[k] = k % 7;
	for (int i = 1; i < 17; i++)
		for (int k = 1; k < 17; k++)
			life[0][i][k] = random_number() % 3 == 0;
	int r = run(argc + 8, argc + 13);
	report();
	return r == -7777777;
}
