#include "count.h"
#include <array>
#include <deque>
#include <functional>
#include <list>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>
// a small interpreter, matrices, exceptions, recursion through std::function, an iterator of its own
template <class T, int R, int C> struct Matrix {
	std::array<T, R * C> data{};
	T &operator()(int r, int c) { return data[r * C + c]; }
	template <int K> Matrix<T, R, K> times(Matrix<T, C, K> &o)
	{
		Matrix<T, R, K> m;
		ENTER(0);
		for (int i = 0; i < R; ++i) {
			TURN(0);
			ENTER(1);
			for (int j = 0; j < K; ++j) {
				TURN(1);
				T s{};
				ENTER(2);
				for (int k = 0; k < C; ++k) {
					TURN(2);
					s += (*this)(i, k) * o(k, j);
				}
				m(i, j) = s;
			}
		}
		return m;
	}
};
struct Range {
	int from, to, step;
	struct It {
		int at, step;
		int operator*() const { return at; }
		It &operator++() { at += step; return *this; }
		bool operator!=(const It &o) const { return at < o.at; }
	};
	It begin() const { return {from, step}; }
	It end() const { return {to, step}; }
};
enum Op { PUSH, ADD, MUL, JNZ, DEC, DUP, HALT };
static long interpret(const std::vector<std::pair<Op, int>> &code)
{
	std::vector<long> stack;
	size_t pc = 0;
	ENTER(3);
	while (true) {
		TURN(3);
		auto [op, arg] = code[pc++];
		switch (op) {
		case PUSH: stack.push_back(arg); break;
		case ADD: { long a = stack.back(); stack.pop_back(); stack.back() += a; break; }
		case MUL: stack.back() *= arg; break;
		case DEC: stack.back()--; break;
		case DUP: stack.push_back(stack.back()); break;
		case JNZ: { long a = stack.back(); if (a) pc = arg; break; }
		case HALT: return stack.back();
		}
	}
}
static int parse(const std::string &s)
{
	int v = 0;
	ENTER(4);
	for (char c : s) {
		TURN(4);
		if (c < '0' || c > '9')
			throw std::invalid_argument(s);
		v = v * 10 + c - '0';
	}
	return v;
}
static std::optional<int> locate(const std::list<int> &l, int x)
{
	int at = 0;
	ENTER(5);
	for (auto it = l.begin(); it != l.end(); ++it, ++at) {
		TURN(5);
		if (*it == x)
			return at;
	}
	return std::nullopt;
}
KERNEL int run(int n, int m)
{
	Matrix<int, 3, 4> a;
	Matrix<int, 4, 5> b;
	Matrix<double, 4, 4> c, d;
	ENTER(6);
	for (int i : Range{0, n, 2}) {
		TURN(6);
		a(i % 3, i % 4) = i, b(i % 4, i % 5) = i * 2, c(i % 4, 1) = i, d(1, i % 4) = i;
	}
	long s = a.times(b)(1, 2) + (long)c.times(d)(2, 2);
	s += interpret({{PUSH, m}, {DEC, 0}, {JNZ, 1}, {PUSH, 3}, {ADD, 0}, {MUL, 7}, {HALT, 0}});
	int bad = 0;
	ENTER(7);
	for (const char *t : {"123", "45x6", "", "789"}) {
		TURN(7);
		try {
			s += parse(t);
		} catch (const std::invalid_argument &) {
			bad++;
		}
	}
	std::list<int> l;
	ENTER(8);
	for (int i = n; i-- > 0;) {
		TURN(8);
		l.push_front(i * i % 23);
	}
	s += locate(l, 4).value_or(-1) + locate(l, 99).value_or(-1);
	std::function<int(int)> depth = [&](int k) {
		int most = 0;
		ENTER(9);
		for (int i = 1; i < k; i += 2) {
			TURN(9);
			most = std::max(most, depth(i) + 1);
		}
		return most;
	};
	s += depth(8);
	std::unordered_map<int, std::vector<int>> groups;
	ENTER(10);
	for (int x : l) {
		TURN(10);
		groups[x % 5].push_back(x);
	}
	std::deque<int> todo{1};
	std::set<int> seen;
	ENTER(11);
	while (!todo.empty() && seen.size() < 40) {
		TURN(11);
		int x = todo.front();
		todo.pop_front();
		if (!seen.insert(x).second)
			continue;
		ENTER(12);
		for (int k = 2; k <= 3; k++) {
			TURN(12);
			if (x * k < 500)
				todo.push_back(x * k + (x & 1));
		}
	}
	return (int)s + bad + (int)seen.size() + (int)groups.size();
}
int main(int argc, char **argv)
{
	int r = run(argc + 19, argc + 8);
	report();
	return r == -7777777;
}
