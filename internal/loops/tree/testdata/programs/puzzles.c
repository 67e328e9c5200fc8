#include "count.h"
#include <stdbool.h>
/* queens, regular expressions, list sort, ring buffer, state tables, collatz with cache, bit sets */
struct node { int key; struct node *next; };
static struct node pool[64];
static int solutions, ring[16], cache[256];
static unsigned char next_state[4][4] = { { 1, 0, 2, 0 }, { 1, 2, 3, 0 }, { 3, 3, 0, 1 }, { 0, 1, 2, 3 } };
static void queens(int n, int row, unsigned cols, unsigned d1, unsigned d2)
{
	if (row == n) {
		solutions++;
		return;
	}
	unsigned open = ~(cols | d1 | d2) & ((1u << n) - 1);
	ENTER(0);
	while (open) {
		TURN(0);
		unsigned bit = open & -open;
		open ^= bit;
		queens(n, row + 1, cols | bit, (d1 | bit) << 1, (d2 | bit) >> 1);
	}
}
static bool here(const char *re, const char *s);
static bool star(int c, const char *re, const char *s)
{
	ENTER(1);
	do {
		TURN(1);
		if (here(re, s))
			return true;
	} while (*s && (*s++ == c || c == '.'));
	return false;
}
static bool here(const char *re, const char *s)
{
	if (!*re)
		return true;
	if (re[1] == '*')
		return star(*re, re + 2, s);
	if (*s && (*re == '.' || *re == *s))
		return here(re + 1, s + 1);
	return false;
}
static struct node *merge_sort(struct node *l)
{
	if (!l || !l->next)
		return l;
	struct node *slow = l, *fast = l->next;
	ENTER(2);
	while (fast && fast->next) {
		TURN(2);
		slow = slow->next, fast = fast->next->next;
	}
	struct node *b = merge_sort(slow->next), head, *t = &head;
	slow->next = 0;
	l = merge_sort(l);
	ENTER(3);
	for (; l && b; t = t->next) {
		TURN(3);
		struct node **from = l->key <= b->key ? &l : &b;
		t->next = *from;
		*from = (*from)->next;
	}
	t->next = l ? l : b;
	return head.next;
}
static int automaton(const char *s, int n)
{
	int state = 0, accepted = 0;
	ENTER(4);
	for (int i = 0; i < n; i++) {
		TURN(4);
		switch (state = next_state[state][s[i] & 3]) {
		case 0:
			accepted += 2;
			continue;
		case 3:
			if (s[i] & 4)
				goto out;
			break;
		default:
			ENTER(5);
			for (int k = 0; k < state; k++) {
				TURN(5);
				ring[(i + k) & 15] += k;
			}
		}
		accepted++;
	}
out:
	return accepted;
}
static int collatz(int limit)
{
	int longest = 0;
	ENTER(6);
	for (int i = 1; i < limit; i++) {
		TURN(6);
		long n = i;
		int steps = 0;
		ENTER(7);
		while (n != 1 && (n >= i || n >= 256)) {
			TURN(7);
			n = n & 1 ? 3 * n + 1 : n / 2;
			steps++;
		}
		cache[i] = steps + cache[n & 255];
		if (cache[i] > longest)
			longest = cache[i];
	}
	return longest;
}
static int flags(const int *v, int n, int want)
{
	bool found = false;
	int i, j = 0;
	ENTER(8);
	for (i = 0; i < n && !found; i++) {
		TURN(8);
		ENTER(9);
		for (j = i + 1; j < n; j++) {
			TURN(9);
			if (v[i] + v[j] == want) {
				found = true;
				break;
			}
		}
	}
	return found ? i * 100 + j : -1;
}
KERNEL int run(int n, int m)
{
	queens(n, 0, 0, 0, 0);
	static const char *lines[] = { "aaaab", "abcbcd", "xyzzy", "", "aabaab" };
	int hits = 0;
	ENTER(10);
	for (unsigned k = 0; k < sizeof lines / sizeof *lines; k++) {
		TURN(10);
		const char *s = lines[k];
		ENTER(11);
		do {
			TURN(11);
			hits += here("a*b.*b", s);
		} while (*s++);
	}
	struct node *l = merge_sort(pool);
	int sum = 0;
	ENTER(12);
	for (; l; l = l->next) {
		TURN(12);
		sum = sum * 3 + l->key;
	}
	return solutions + hits + sum + automaton("abcdefghabcabdcbadhg", m) + collatz(200) + flags(cache, 40, 17);
}
int main(int argc, char **argv)
{
	for (int i = 0; i < 64; i++)
		pool[i].key = random_number() % 100, pool[i].next = i < 63 ? &pool[i + 1] : 0;
	int r = run(argc + 4, argc + 19);
	report();
	return r == -7777777;
}
