#include "count.h"
#include <math.h>
/* wave equation, power iteration, prefix sums, histograms, convolution, spmv, newton, simpson, min-plus */
static double u[3][24][24], mat[20][20], vec[20], out[64];
static int histogram[16], prefix[80], rowp[21], colx[120];
static float image[20][20], blurred[20][20];
static double norm(const double *v, int n)
{
	double s = 0;
	ENTER(0);
	for (int i = 0; i < n; i++) {
		TURN(0);
		s += v[i] * v[i];
	}
	return sqrt(s);
}
static int power(int n)
{
	double before = 0, now = 1;
	int it = 0;
	ENTER(1);
	while (fabs(now - before) > 1e-4 * now && it < 60) {
		TURN(1);
		double next[20];
		ENTER(2);
		for (int i = 0; i < n; i++) {
			TURN(2);
			next[i] = 0;
			ENTER(3);
			for (int j = 0; j < n; j++) {
				TURN(3);
				next[i] += mat[i][j] * vec[j];
			}
		}
		before = now;
		now = norm(next, n);
		ENTER(4);
		for (int i = 0; i < n; i++) {
			TURN(4);
			vec[i] = next[i] / now;
		}
		it++;
	}
	return it;
}
static void wave(int steps, int n)
{
	ENTER(5);
	for (int t = 0; t < steps; t++) {
		TURN(5);
		double (*a)[24] = u[t % 3], (*b)[24] = u[(t + 1) % 3], (*c)[24] = u[(t + 2) % 3];
		ENTER(6);
		for (int i = 1; i < n - 1; i++) {
			TURN(6);
			ENTER(7);
			for (int j = 1; j < n - 1; j++) {
				TURN(7);
				c[i][j] = 2 * b[i][j] - a[i][j] + 0.1 * (b[i - 1][j] + b[i + 1][j] + b[i][j - 1] + b[i][j + 1] - 4 * b[i][j]);
			}
		}
		if (fabs(c[n / 2][n / 2]) > 1e6)
			break;
	}
}
static int counts(const int *v, int n)
{
	int most = 0;
	ENTER(8);
	for (const int *p = v; p != v + n; ++p) {
		TURN(8);
		if (++histogram[*p & 15] > histogram[most])
			most = *p & 15;
	}
	ENTER(9);
	for (int i = 1; i < n; i++) {
		TURN(9);
		prefix[i] += prefix[i - 1];
	}
	return most;
}
static void blur(int n, int r)
{
	ENTER(10);
	for (int y = 0; y < n; y++) {
		TURN(10);
		ENTER(11);
		for (int x = 0; x < n; x++) {
			TURN(11);
			float s = 0;
			int k = 0;
			ENTER(12);
			for (int d = -r; d <= r; d++) {
				TURN(12);
				if (x + d < 0 || x + d >= n)
					continue;
				s += image[y][x + d];
				k++;
			}
			blurred[y][x] = s / k;
		}
	}
}
static double sparse(int n)
{
	double s = 0;
	ENTER(13);
	for (int i = 0; i < n; i++) {
		TURN(13);
		double row = 0;
		ENTER(14);
		for (int k = rowp[i]; k < rowp[i + 1]; k++) {
			TURN(14);
			row += vec[colx[k]] * k;
		}
		out[i] = row;
		s += row;
	}
	return s;
}
static double newton(double x)
{
	int k = 0;
	ENTER(15);
	do {
		TURN(15);
		x -= (x * x - 2 - out[3] * 1e-9) / (2 * x);
		out[40 + k] = x;
	} while (fabs(x * x - 2) > 1e-10 && ++k < 20);
	return x;
}
static double simpson(int n)
{
	double h = 1.0 / n, s = 0;
	ENTER(16);
	for (int i = 0; i <= n; i++) {
		TURN(16);
		double w = i == 0 || i == n ? 1 : i & 1 ? 4 : 2;
		s += w * exp(-(i * h) * (i * h));
	}
	return s * h / 3;
}
KERNEL int run(int n, int m)
{
	int k = power(n);
	wave(m, 20);
	k += counts(prefix, 70);
	blur(n, 2);
	return k + (int)(sparse(n) + newton(1.0 + n) + 100 * simpson(m * 4));
}
int main(int argc, char **argv)
{
	int at = 0;
	for (int i = 0; i < 20; i++) {
		vec[i] = 1;
		rowp[i] = at;
		for (int j = 0; j < 20; j++) {
			mat[i][j] = random_number() % 10 + (i == j) * 30;
			image[i][j] = random_number() % 255;
			if (random_number() % 5 == 0 && at < 119)
				colx[at++] = j;
		}
	}
	rowp[20] = at;
	for (int i = 0; i < 80; i++)
		prefix[i] = random_number() % 90;
	u[1][10][10] = u[0][10][10] = 5;
	int r = run(argc + 16, argc + 6);
	report();
	return r == -7777777;
}
