// Exceptions through frames with destructors, templates and the C++ library.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
volatile unsigned long sink;
struct Guard {
	int n;
	explicit Guard(int n) : n(n) {}
	~Guard() { for (int i = 0; i < 500; i++) sink = sink + n; }
};
__attribute__((noinline)) void thrower(int n)
{
	Guard g(n);
	if (n == 0)
		throw std::runtime_error("bottom");
	thrower(n - 1);
	sink = sink + 1;
}
__attribute__((noinline)) long sorter(int n)
{
	std::vector<std::string> v;
	for (int i = 0; i < n; i++)
		v.push_back(std::to_string(i * 7919 % n));
	std::sort(v.begin(), v.end(), [](const std::string &a, const std::string &b) { return b < a; });
	std::map<std::string, int> m;
	for (auto &s : v)
		m[s]++;
	return m.size();
}
int main()
{
	std::thread other([] { sink = sink + sorter(20000); });
	for (int i = 0; clock() < CLOCKS_PER_SEC * 3 / 10; i++) {
		try {
			thrower(i % 20);
		} catch (std::exception &e) {
			sink = sink + e.what()[0];
		}
		if (i % 100 == 0)
			sink = sink + sorter(1000);
	}
	other.join();
	std::printf("%lu\n", (unsigned long)sink);
}
