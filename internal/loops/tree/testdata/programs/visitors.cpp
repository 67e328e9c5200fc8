#include "count.h"
#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>
// lambdas, virtual calls, range loops over containers, visitors, templates of sizes
struct Shape { virtual ~Shape() {} virtual double area(const std::vector<double> &v) const = 0; };
struct Poly : Shape {
	int sides;
	Poly(int s) : sides(s) {}
	double area(const std::vector<double> &v) const override
	{
		double s = 0;
		ENTER(0);
		for (int i = 0; i < sides; i++) {
			TURN(0);
			s += v[i] * v[(i + 1) % sides];
		}
		return s;
	}
};
struct Circle : Shape {
	double area(const std::vector<double> &v) const override
	{
		double r = v[0], s = 1;
		ENTER(1);
		while (r > 0.5) {
			TURN(1);
			s += r, r /= 2;
		}
		return s;
	}
};
template <int N> static double norm(const double *p)
{
	double s = 0;
	ENTER(2);
	for (int i = 0; i < N; i++) {
		TURN(2);
		s += p[i] * p[i];
	}
	return s;
}
template <class F> static int count_if(const std::vector<int> &v, F f)
{
	int n = 0;
	ENTER(3);
	for (int x : v) {
		TURN(3);
		if (f(x))
			n++;
	}
	return n;
}
struct Tree {
	int key;
	std::unique_ptr<Tree> l, r;
};
static void insert(std::unique_ptr<Tree> &t, int key)
{
	std::unique_ptr<Tree> *at = &t;
	ENTER(4);
	while (*at) {
		TURN(4);
		at = key < (*at)->key ? &(*at)->l : &(*at)->r;
	}
	at->reset(new Tree{key, nullptr, nullptr});
}
static int sum(const Tree *t) { return t ? t->key + sum(t->l.get()) + sum(t->r.get()) : 0; }
KERNEL int run(int n, int m)
{
	std::vector<double> v(n);
	ENTER(5);
	for (auto &x : v) {
		TURN(5);
		x = random_number() % 10 + 1;
	}
	std::vector<std::unique_ptr<Shape>> shapes;
	ENTER(6);
	for (int i = 0; i < m; i++) {
		TURN(6);
		if (i % 3)
			shapes.push_back(std::make_unique<Poly>(i % 5 + 3));
		else
			shapes.push_back(std::make_unique<Circle>());
	}
	double s = 0;
	ENTER(7);
	for (const auto &p : shapes) {
		TURN(7);
		s += p->area(v);
	}
	s += norm<3>(v.data()) + norm<8>(v.data());
	std::vector<int> numbers(m * 3);
	std::iota(numbers.begin(), numbers.end(), -m);
	int k = count_if(numbers, [](int x) { return x & 1; }) + count_if(numbers, [n](int x) { return x > n; });
	std::map<std::string, int> words;
	ENTER(8);
	for (int i = 0; i < n * 2; i++) {
		TURN(8);
		words[std::string(1 + i % 4, 'a' + i % 6)] += i;
	}
	ENTER(9);
	for (const auto &[word, times] : words) {
		TURN(9);
		k += word.size() * times;
	}
	std::unique_ptr<Tree> t;
	ENTER(10);
	for (auto it = numbers.rbegin(); it != numbers.rend(); it += 3) {
		TURN(10);
		insert(t, (*it * 37) % 41);
	}
	auto digits = [](int a) {
		int x = 0;
		ENTER(11);
		for (; a > 0 && x < 3; a /= 4) {
			TURN(11);
			x++;
		}
		return x;
	};
	std::sort(numbers.begin(), numbers.end(), [&](int a, int b) { return digits(a) < digits(b); });
	return (int)s + k + sum(t.get()) + numbers[2];
}
int main(int argc, char **argv)
{
	int r = run(argc + 11, argc + 14);
	report();
	return r == -7777777;
}
