// Kernels of other languages and ways to run: as in kernels.c, each waits for the
// objects that its entry in the test names.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <memory>
#include <thread>
#include <vector>

constexpr uint32_t N = 1u << 22;
static uint64_t state = 88172645463325252ull;
static uint64_t rnd() { state ^= state << 13; state ^= state >> 7; state ^= state << 17; return state; }

struct Node { Node *next; long value; };
struct Shape { virtual ~Shape() {} virtual Shape *step() = 0; Shape *next = nullptr; long pad[2]; };
struct Round : Shape { Shape *step() override { return next; } };
struct Square : Shape { Shape *step() override { return next; } };
struct Tree { Tree *left, *right; long key; };

std::vector<uint32_t> links;
std::unique_ptr<Node[]> chain;
std::vector<double> field;
static uint32_t first[N], second[N];
static char rounds[sizeof(Round) * (N / 4)];
static Tree trees[N / 2];
static Tree *root;
static Shape *shapes;
volatile long sink;

template <class T> static void permute(T *p, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) p[i] = i;
	for (uint32_t i = n - 1; i > 0; i--) { uint32_t k = rnd() % i; T t = p[i]; p[i] = p[k]; p[k] = t; } /* one ring */
}

#define KERNEL extern "C" __attribute__((noinline)) void

KERNEL vector_chase(long n) { uint32_t i = 0; while (n--) i = links[i]; sink = i; }
KERNEL unique_chase(long n) { Node *p = &chain[0]; while (n--) p = p->next; sink = (long)p; }
KERNEL vector_sweep(long n) { double s = 0; while (n--) for (double v : field) s += v; sink = s; }
KERNEL virtual_chase(long n) { Shape *p = shapes; while (n--) p = p->step(); sink = (long)p; }
static __attribute__((noinline)) long depth(Tree *t) { return t ? t->key + depth(t->left) + depth(t->right) : 0; }
KERNEL tree_recursion(long n) { long s = 0; while (n--) s += depth(root); sink = s; }
static __attribute__((noinline)) void follow(uint32_t *p, long n) { uint32_t i = 0; while (n--) i = p[i]; sink = i; }
KERNEL thread_first(long n) { follow(first, n); sink = sink + 1; }
KERNEL thread_second(long n) { follow(second, n); sink = sink + 1; }
KERNEL two_threads(long n)
{
	std::thread a(thread_first, n), b(thread_second, n);
	a.join();
	b.join();
}
KERNEL lambda_gather(long n)
{
	auto at = [](uint32_t i) { return links[i]; };
	long s = 0;
	while (n--) s += at((rnd() + (s & 1)) % N);
	sink = s;
}
#ifdef LIBRARY
static uint32_t remote[N];
KERNEL loaded_chase(long n) /* what follows its loop keeps it on the stack */
{
	static bool made;
	if (!made) { permute(remote, N); made = true; }
	follow(remote, n);
	sink = sink + 1;
}
#else
static Tree *grow(uint32_t *order, uint32_t low, uint32_t high)
{
	if (low >= high) return nullptr;
	uint32_t mid = low + (high - low) / 2;
	Tree *t = &trees[order[mid]];
	t->key = mid;
	t->left = grow(order, low, mid);
	t->right = grow(order, mid + 1, high);
	return t;
}

static void prepare()
{
	links.resize(N);
	permute(links.data(), N);
	chain = std::make_unique<Node[]>(N / 2);
	field.resize(2 * N);
	std::vector<uint32_t> order(N / 2);
	permute(order.data(), N / 2);
	for (uint32_t i = 0; i < N / 2; i++) chain[i].next = &chain[order[i]];
	for (uint32_t i = 0; i < N / 2; i++) order[i] = i;
	for (uint32_t i = N / 2 - 1; i > 0; i--) std::swap(order[i], order[rnd() % i]);
	root = grow(order.data(), 0, N / 2);
	permute(first, N);
	permute(second, N);
	std::vector<uint32_t> ring(N / 4);
	permute(ring.data(), N / 4);
	for (uint32_t i = 0; i < N / 4; i++)
		if (i % 2) new (rounds + i * sizeof(Round)) Round; else new (rounds + i * sizeof(Square)) Square;
	for (uint32_t i = 0; i < N / 4; i++) ((Shape *)(rounds + i * sizeof(Round)))->next = (Shape *)(rounds + ring[i] * sizeof(Round));
	shapes = (Shape *)rounds;
}

int main(int argc, char **argv)
{
	prepare();
	long n = atol(argv[2]);
	if (!strcmp(argv[1], "loaded_chase")) {
		void *library = dlopen(argv[3], RTLD_NOW);
		if (!library) { fprintf(stderr, "%s\n", dlerror()); return 3; }
		((void (*)(long))dlsym(library, argv[1]))(n);
		return 0;
	}
	static const struct { const char *name; void (*run)(long); } kernels[] = {
		{"vector_chase", vector_chase}, {"unique_chase", unique_chase}, {"vector_sweep", vector_sweep}, {"virtual_chase", virtual_chase},
		{"tree_recursion", tree_recursion}, {"two_threads", two_threads}, {"lambda_gather", lambda_gather},
	};
	for (auto &k : kernels)
		if (!strcmp(k.name, argv[1])) { k.run(n); return 0; }
	return 2;
}
#endif
