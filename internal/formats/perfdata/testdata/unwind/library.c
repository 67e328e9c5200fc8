// A library that calls back into the program.
unsigned long library(int n, unsigned long (*back)(int))
{
	volatile long a[10];
	unsigned long s = 0;
	a[n] = n;
	for (int i = 0; i < n; i++)
		s += back(i) + a[n];
	return s;
}
