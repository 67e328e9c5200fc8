#include "count.h"
static int weigh_more(const int *p, int n);
static const int table[8] = { 3, 1, 4, 1, 5, 9, 2, 6 };
static int out[64];
static int sum(const int *p)
{
	int s = 0;
	ENTER(0);
	for (int i = 0; i < 8; i++) {
		TURN(0);
		s += p[i];
	}
	return s;
}
__attribute__((noinline)) static int pure(const int *p, int n)
{
	int s = 0;
	ENTER(3);
	for (int i = 0; i < n; i++) {
		TURN(3);
		s = s * 5 ^ p[i & 31];
	}
	return s;
}
static int both(const int *p)
{
	return weigh_more(p, 3) * 2;
}
static int weigh(int n, const int *p)
{
	int s = 1;
	ENTER(1);
	for (int i = 0; i < n; i++) {
		TURN(1);
		s = s * 3 + p[i & 7];
	}
	return s;
}
static int weigh_more(const int *p, int n)
{
	int s = 1;
	ENTER(4);
	for (int i = 0; i < n; i++) {
		TURN(4);
		s = s * 7 + p[i & 7];
	}
	return s;
}
int (*volatile more)(const int *) = both;
int (*volatile by)(const int *) = sum;
int (*volatile with)(int, const int *) = weigh;
KERNEL int run(int n, int m)
{
	int s = sum(table) + weigh(4, table);
	ENTER(2);
	for (int k = 0; k < n; k++) {
		TURN(2);
		s += by(out + k) + with(k, out);
		out[k] = sum(table) ^ s;
	}
	int h = both(table);
	ENTER(5);
	for (int k = 0; k < m; k++) {
		TURN(5);
		h += pure(out, n) * k;
	}
	s += more(out + m);
	return s + h;
}
int main(int argc, char **argv)
{
	for (int i = 0; i < 64; i++)
		out[i] = random_number() % 9;
	int r = run(argc + 10, argc + 6);
	report();
	return r == -7777777;
}
