isobath export demo -o samples.csv
cat > matmul.c <<'C'
#include <stdlib.h>

enum { N = 160 };
static double a[N][N], b[N][N], c[N][N];

__attribute__((noinline)) static void multiply(void)
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			double sum = 0;

			for (int k = 0; k < N; k++) sum += a[i][k] * b[k][j];
			c[i][j] += sum;
		}
}

int main(void)
{
	for (int turn = 0; turn < 40; turn++)
		multiply();
	return c[1][1] != 0;
}
C
cc -O1 -g -o matmul matmul.c
isobath record --rate 2000 -- ./matmul
