#include "count.h"
#include <list>
#include <vector>
static std::vector<int> v;
static std::list<int> l;
static long sum;
struct shape { virtual ~shape() {} virtual int area(int k) const = 0; };
struct square : shape { int s; square(int s) : s(s) {} int area(int k) const override { return s * s + k; } };
struct strip : shape {
	int w[5];
	strip(int x) { for (int &e : w) e = x++; }
	int area(int k) const override
	{
		int a = 0;
		ENTER(3);
		for (int e : w) {
			TURN(3);
			a += e * k;
		}
		return a;
	}
};
static std::vector<shape *> shapes;
extern "C" KERNEL void run()
{
	ENTER(0);
	for (int x : v) {
		TURN(0);
		sum += x;
	}
	ENTER(1);
	for (auto it = l.begin(); it != l.end(); ++it) {
		TURN(1);
		*it += 1;
	}
	ENTER(2);
	for (size_t i = 0; i < shapes.size(); i++) {
		TURN(2);
		sum += shapes[i]->area(i);
	}
	ENTER(4);
	for (auto it = v.rbegin(); it != v.rend(); ++it) {
		TURN(4);
		if (*it % 5 == 0)
			continue;
		l.push_back(*it);
	}
}
int main()
{
	for (int i = 0; i < 37; i++)
		v.push_back(random_number()), l.push_back(i);
	for (int i = 0; i < 11; i++)
		shapes.push_back(i % 3 ? (shape *)new strip(i) : new square(i));
	run();
	report();
	return sum == 0;
}
