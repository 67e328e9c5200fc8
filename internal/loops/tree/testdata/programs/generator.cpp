#include "count.h"
#include <coroutine>
#include <vector>
/* A loop that a coroutine leaves and goes on with in its middle. */
struct Gen {
	struct promise_type {
		int v;
		Gen get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
		std::suspend_always initial_suspend() { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		std::suspend_always yield_value(int x) { v = x; return {}; }
		void return_void() {}
		void unhandled_exception() {}
	};
	std::coroutine_handle<promise_type> h;
	~Gen() { h.destroy(); }
	bool next() { h.resume(); return !h.done(); }
};
static std::vector<int> data;
static Gen primes(int n)
{
	ENTER(0);
	for (int i = 2; i < n; i++) {
		TURN(0);
		bool p = true;
		ENTER(1);
		for (int d = 2; p && d * d <= i; d++) {
			TURN(1);
			p = i % d;
		}
		if (p)
			co_yield i;
	}
}
extern "C" KERNEL int run()
{
	int s = 0;
	Gen g = primes(40);
	ENTER(2);
	while (g.next()) {
		TURN(2);
		s += g.h.promise().v * data[g.h.promise().v % data.size()];
	}
	return s;
}
int main()
{
	for (int i = 0; i < 60; i++)
		data.push_back(random_number() % 40);
	int r = run();
	report();
	return r == 0;
}
