#include "count.h"
#include <vector>
static std::vector<int> a(300), b, out;
KERNEL void run(int n)
{
	auto i = a.begin(), e = a.begin() + n;
	int lo = 0;
	ENTER(0);
	do {
		TURN(0);
		ENTER(1);
		while (i != e && *i < 50) { TURN(1); lo += *i; ++i; }
		ENTER(2);
		while (i != e && *i >= 50) { TURN(2); out.push_back(*i++); }
	} while (i != e);
	ENTER(3);
	for (int x : out) { TURN(3); lo ^= x; }
	ENTER(4);
	for (auto &x : a) {
		TURN(4);
		ENTER(5);
		while (x > 30) { TURN(5); x -= 13; }
		b.push_back(x);
	}
	a[0] = lo;
}
int main(int argc, char **argv) { for (auto &x : a) x = random_number() % 100; out.reserve(400); b.reserve(400); run(280 + argc); report(); return a[0] == 77777; }
