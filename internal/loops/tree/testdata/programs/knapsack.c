#include "count.h"
/* tables of dynamic programming: knapsack and longest common subsequence */
static int best[401], weight[20], value[20], table[41][61];
static char s[41], t[61];
static int knapsack(int n, int room)
{
	ENTER(0);
	for (int i = 0; i < n; i++) {
		TURN(0);
		ENTER(1);
		for (int w = room; w >= weight[i]; w--) {
			TURN(1);
			int with = best[w - weight[i]] + value[i];
			if (with > best[w])
				best[w] = with;
		}
	}
	return best[room];
}
static int common(int n, int m)
{
	ENTER(2);
	for (int i = 1; i <= n; i++) {
		TURN(2);
		ENTER(3);
		for (int j = 1; j <= m; j++) {
			TURN(3);
			if (s[i - 1] == t[j - 1])
				table[i][j] = table[i - 1][j - 1] + 1;
			else
				table[i][j] = table[i - 1][j] > table[i][j - 1] ? table[i - 1][j] : table[i][j - 1];
		}
	}
	int k = 0, i = n, j = m;
	ENTER(4);
	while (i > 0 && j > 0) {
		TURN(4);
		if (s[i - 1] == t[j - 1])
			i--, j--, k++;
		else if (table[i - 1][j] >= table[i][j - 1])
			i--;
		else
			j--;
	}
	return k;
}
static int sum;
KERNEL void run(int n, int room)
{
	sum = knapsack(n, room);
	sum += common(40, 60);
}
int main(int argc, char **argv)
{
	for (int i = 0; i < 20; i++)
		weight[i] = 5 + random_number() % 40, value[i] = random_number() % 90;
	for (int i = 0; i < 40; i++)
		s[i] = 'a' + random_number() % 4;
	for (int i = 0; i < 60; i++)
		t[i] = 'a' + random_number() % 4;
	run(19 + argc, 399 + argc);
	report();
	return sum == 0;
}
