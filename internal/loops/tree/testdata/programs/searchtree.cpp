#include "count.h"
#include <vector>
#include <algorithm>
/* a balanced search tree by insertion, walked by recursion and by a stack */
struct node { node *left, *right; int key, count; };
static std::vector<int> keys;
static node *root;
static long sum;
static void insert(int key)
{
	node **at = &root;
	ENTER(1);
	while (*at) {
		TURN(1);
		if ((*at)->key == key) {
			(*at)->count++;
			return;
		}
		at = key < (*at)->key ? &(*at)->left : &(*at)->right;
	}
	*at = new node{nullptr, nullptr, key, 1};
}
static int depth(const node *n)
{
	return n ? 1 + std::max(depth(n->left), depth(n->right)) : 0;
}
extern "C" KERNEL void run()
{
	ENTER(0);
	for (int k : keys) {
		TURN(0);
		insert(k);
	}
	sum += depth(root);
	std::vector<node *> stack{root};
	ENTER(2);
	while (!stack.empty()) {
		TURN(2);
		node *n = stack.back();
		stack.pop_back();
		sum += n->key;
		if (n->right)
			stack.push_back(n->right);
		if (n->left)
			stack.push_back(n->left);
	}
	ENTER(3);
	for (size_t i = 0; i + 1 < keys.size(); i++) {
		TURN(3);
		ENTER(4);
		for (size_t j = keys.size() - 1; j > i; j--) {
			TURN(4);
			if (keys[j] < keys[j - 1])
				std::swap(keys[j], keys[j - 1]);
		}
	}
}
int main()
{
	for (int i = 0; i < 45; i++)
		keys.push_back(random_number() % 64);
	run();
	report();
	return sum == 0;
}
