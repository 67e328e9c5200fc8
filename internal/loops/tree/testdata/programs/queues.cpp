#include "count.h"
#include <forward_list>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <stdexcept>
#include <vector>
struct Node { int v; std::unique_ptr<Node> l, r; };
static std::unique_ptr<Node> root;
static std::vector<std::tuple<int, int, int>> edges;
static void add(int v) { auto *at = &root;
	ENTER(0);
	while (*at) {
		TURN(0);
		at = v < (*at)->v ? &(*at)->l : &(*at)->r;
	}
	*at = std::make_unique<Node>(Node{v, nullptr, nullptr}); }
static int sum(const Node *n) { int s = 0;
	ENTER(1);
	for (; n; n = n->r.get()) {
		TURN(1);
		s += n->v + sum(n->l.get());
	}
	return s; }
static std::optional<int> parse(const char *&p) {
	ENTER(2);
	while (*p == ' ') {
		TURN(2);
		++p;
	}
	if (*p < '0' || *p > '9') return std::nullopt;
	int v = 0;
	ENTER(3);
	for (; *p >= '0' && *p <= '9'; ++p) {
		TURN(3);
		v = v * 10 + *p - '0';
	}
	return v; }
extern "C" KERNEL int run(const char *text)
{
	int s = 0, n = 0;
	ENTER(4);
	while (auto v = parse(text)) {
		TURN(4);
		add(*v);
		n++;
	}
	s += sum(root.get());
	std::vector<int> dist(24, 1 << 20);
	std::priority_queue<std::pair<int, int>> q;
	q.push({0, 0}); dist[0] = 0;
	ENTER(5);
	while (!q.empty()) {
		TURN(5);
		auto [d, u] = q.top(); q.pop();
		if (-d > dist[u]) continue;
		ENTER(6);
		for (auto &[a, b, w] : edges) {
			TURN(6);
			if (a != u || dist[u] + w >= dist[b]) continue;
			dist[b] = dist[u] + w;
			q.push({-dist[b], b});
		}
	}
	std::forward_list<int> f(dist.begin(), dist.end());
	auto before = f.before_begin();
	ENTER(7);
	for (auto it = f.begin(); it != f.end();) {
		TURN(7);
		if (*it > 1000) it = f.erase_after(before);
		else s += *it, before = it++;
	}
	try {
		ENTER(8);
		for (size_t i = 0;; i += 3) {
			TURN(8);
			s ^= dist.at(i);
		}
	} catch (const std::out_of_range &) { s++; }
	return s + n;
}
int main() { std::string t; for (int i = 0; i < 25; i++) t += std::to_string(random_number() % 900) + (i % 3 ? " " : "   "); t += "x";
	for (int i = 0; i < 60; i++) edges.push_back({random_number() % 24, random_number() % 24, 1 + random_number() % 9});
	int r = run(t.c_str()); report(); return r == -1; }
