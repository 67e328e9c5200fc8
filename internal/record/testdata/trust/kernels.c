/* Programs whose time is known to be spent at certain objects. Every kernel is
 * written so that the accesses named in its entry of kernels[] are what it waits
 * for: chains of dependent loads through permutations, or sweeps. The rest (a
 * counter, an index that is read in order) is there to be blamed wrongly. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#define N (1u << 21) /* elements of 16 bytes: 32 MiB, larger than the nearer caches */
struct node { struct node *next; long value; };
struct tree { struct tree *left, *right; long key, value; };

struct node pool[N], other[N];
struct tree trees[N / 2];
uint32_t follow[2 * N], order[N];
long table[2 * N], heads[N / 4], counter, counters[64];
double a[N], b[N], c[N], big[2 * N];
unsigned char text[4 * N], copy[4 * N];
volatile long sink;

static uint64_t state = 88172645463325252ull;
static uint64_t rnd(void) { state ^= state << 13; state ^= state >> 7; state ^= state << 17; return state; }

static void shuffle(uint32_t *p, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) p[i] = i;
	for (uint32_t i = n - 1; i > 0; i--) { uint32_t k = rnd() % (i + 1), t = p[i]; p[i] = p[k]; p[k] = t; }
}

static void chain(struct node *p)
{
	shuffle(order, N);
	for (uint32_t i = 0; i < N; i++) { p[order[i]].next = &p[order[(i + 1) % N]]; p[order[i]].value = i; }
}

/* Chains of dependent loads. */
static void chase_plain(long n) { struct node *p = pool; while (n--) p = p->next; sink = (long)p; }
static void chase_counter(long n) { struct node *p = pool; while (n--) { p = p->next; counter++; __asm__ volatile("" ::: "memory"); } sink = (long)p; }
static void chase_counters(long n) { struct node *p = pool; while (n--) { p = p->next; counters[n & 63] += 3; __asm__ volatile("" ::: "memory"); } sink = (long)p; }
static void chase_sum(long n) { struct node *p = pool; long s = 0; while (n--) { s += p->value; p = p->next; } sink = s; }
static void chase_store(long n) { struct node *p = pool; while (n--) { p->value = n; p = p->next; } sink = (long)p; }
static void chase_branch(long n) { struct node *p = pool; while (n--) { if (p->value & 1) counter++; else counters[1]++; p = p->next; } sink = (long)p; }
__attribute__((noinline)) static struct node *next_of(struct node *p) { return p->next; }
static void chase_call(long n) { struct node *p = pool; while (n--) { p = next_of(p); counter++; } sink = (long)p; }
static void chase_index(long n) { uint32_t i = 0; while (n--) i = follow[i]; sink = i; }
static void chase_index_counter(long n) { uint32_t i = 0; while (n--) { i = follow[i]; counters[i & 63]++; } sink = i; }
/* A step in one, then a step in the other, each after the other: 50 to 50. No
 * address is odd, which the compiler does not know. */
static void chase_two(long n)
{
	struct node *p = pool, *q = other;
	while (n--) {
		p = p->next;
		q = ((struct node *)((uintptr_t)q + ((uintptr_t)p & 1)))->next;
		p = (struct node *)((uintptr_t)p + ((uintptr_t)q & 1));
	}
	sink = (long)p + (long)q;
}
/* Three dependent steps in one, one in the other: 75 to 25. */
static void chase_three_one(long n)
{
	struct node *p = pool; struct node *q = other;
	while (n--) {
		p = p->next;
		p = p->next;
		p = p->next;
		q = ((struct node *)((uintptr_t)q + ((uintptr_t)p & 1)))->next;
		p = (struct node *)((uintptr_t)p + ((uintptr_t)q & 1));
	}
	sink = (long)p + (long)q;
}
static void chase_indirect(long n) { struct node **pp = &pool[0].next; while (n--) { struct node *p = *pp; pp = &p->next; counter += 2; __asm__ volatile("" ::: "memory"); } sink = (long)pp; }

/* Trees, hashes and searches. */
static struct tree *insert(uint32_t low, uint32_t high)
{
	if (low >= high) return 0;
	uint32_t mid = low + (high - low) / 2;
	struct tree *t = &trees[order[mid]];
	t->key = mid; t->value = 1;
	t->left = insert(low, mid); t->right = insert(mid + 1, high);
	return t;
}
static struct tree *root;
static void tree_find(long n)
{
	while (n--) {
		long key = rnd() % (N / 2); struct tree *t = root;
		while (t && t->key != key) t = key < t->key ? t->left : t->right;
		counter += t != 0;
	}
}
static void hash_open(long n) { long s = 0; while (n--) { uint64_t h = rnd() % (2 * N); while (table[h] < 0) h = (h + 1) % (2 * N); s += table[h]; rnd(); state += s & 1; } sink = s; }
static void hash_chained(long n)
{
	long s = 0;
	while (n--) {
		struct node *p = &pool[heads[(rnd() + (s & 1)) % (N / 4)]];
		for (int i = 0; i < 4; i++) p = p->next;
		s += p->value;
	}
	sink = s;
}
static void search_binary(long n)
{
	while (n--) {
		long key = rnd() % (2 * N), low = 0, high = 2 * N;
		while (low < high) { long mid = (low + high) / 2; if (table[mid] < key) low = mid + 1; else high = mid; }
		counter += low;
	}
}
static void union_find(long n) { while (n--) { uint32_t i = rnd() % (2 * N); for (int k = 0; k < 8; k++) i = follow[i]; counters[i & 7]++; } }

/* Random and regular sweeps. */
static void gather_serial(long n) { long s = 0; for (long i = 0; i < n; i++) { s += table[(order[i % N] + (s & 1)) % (2 * N)]; } sink = s; }
static void scatter(long n) { for (long i = 0; i < n; i++) table[rnd() % (2 * N)] = i; }
static void modify(long n) { for (long i = 0; i < n; i++) table[rnd() % (2 * N)]++; }
static void sum_row(long n) { double s = 0; for (long r = 0; r < n; r++) for (uint32_t i = 0; i < 2 * N; i++) s += big[i]; sink = s; }
static void sum_column(long n) { double s = 0; for (long r = 0; r < n; r++) for (uint32_t j = 0; j < 1024; j++) for (uint32_t i = 0; i < 2 * N / 1024; i++) s += big[(size_t)i * 1024 + j]; sink = s; }
static void triad(long n) { for (long r = 0; r < n; r++) { for (uint32_t i = 0; i < N; i++) a[i] = b[i] + 3 * c[i]; __asm__ volatile("" ::: "memory"); } }
static void copy_loop(long n) { for (long r = 0; r < n; r++) { for (uint32_t i = 0; i < N; i++) a[i] = b[i]; __asm__ volatile("" ::: "memory"); } }
static void fill_loop(long n) { for (long r = 0; r < n; r++) { for (uint32_t i = 0; i < 2 * N; i++) big[i] = r; __asm__ volatile("" ::: "memory"); } }
static void stencil(long n) { for (long r = 0; r < n; r++) { for (uint32_t i = 1024; i < N - 1024; i++) a[i] = b[i - 1024] + b[i - 1] + b[i] + b[i + 1] + b[i + 1024]; __asm__ volatile("" ::: "memory"); } }
static void short_loops(long n) { while (n--) { uint32_t i = rnd() % (N - 8); double s = 0; for (int k = 0; k < 8; k++) s += big[2 * i + k] * 2; a[i % 64] += s; } }
static void sparse(long n) { for (long r = 0; r < n; r++) { double s = 0; for (uint32_t i = 0; i < N; i++) s += big[(order[i] * 2 + ((long)s & 1)) % (2 * N)]; sink = s; } }
static void histogram(long n) { for (long r = 0; r < n; r++) for (uint32_t i = 0; i < 4 * N; i++) table[(text[i] * 8191u + i * 64u) % (2 * N)]++; }

/* String instructions and the library's own. */
static void rep_movsb(long n) { while (n--) { void *d = copy, *s = text; size_t k = sizeof copy; __asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(k)::"memory"); } }
static void rep_stosq(long n) { while (n--) { void *d = big; size_t k = sizeof big / 8; __asm__ volatile("rep stosq" : "+D"(d), "+c"(k) : "a"(0) : "memory"); } }
static void rep_short(long n) { while (n--) { void *d = copy + rnd() % (sizeof copy - 64); size_t k = 32; __asm__ volatile("rep stosb" : "+D"(d), "+c"(k) : "a"(1) : "memory"); counter++; } }
static void lib_memcpy(long n) { while (n--) { memcpy(copy, text, sizeof copy); __asm__ volatile("" ::: "memory"); } }
static void lib_memset(long n) { while (n--) { memset(copy, (int)n, sizeof copy); __asm__ volatile("" ::: "memory"); } }
static void lib_memchr(long n) { long s = 0; while (n--) { s += (long)memchr(text, 255, sizeof text); __asm__ volatile("" ::: "memory"); } sink = s; }

#ifdef __AVX2__
static void avx2_sum(long n) { __m256d s = _mm256_setzero_pd(); while (n--) for (uint32_t i = 0; i < 2 * N; i += 4) s = _mm256_add_pd(s, _mm256_load_pd(&big[i])); sink = s[0]; }
static void avx2_gather(long n) { __m256d s = _mm256_setzero_pd(); while (n--) for (uint32_t i = 0; i < N; i += 4) { s = _mm256_add_pd(s, _mm256_i32gather_pd(big, _mm_loadu_si128((void *)&order[i]), 8)); counter++; } sink = s[0]; }
#endif
#ifdef __AVX512F__
static void avx512_copy(long n) { while (n--) for (uint32_t i = 0; i < N; i += 8) _mm512_store_pd(&a[i], _mm512_load_pd(&b[i])); }
#endif

/* Code made at run time: p = *p; ++*counter; n times. */
static void generated(long n)
{
	static const unsigned char code[] = {0x48, 0x8b, 0x3f, 0x48, 0xff, 0x02, 0x48, 0xff, 0xce, 0x75, 0xf5, 0x48, 0x89, 0xf8, 0xc3};
	unsigned char *m = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(m + 64, code, sizeof code);
	sink = ((long (*)(void *, long, long *))(void *)(m + 64))(pool, n, &counter);
}

static const struct { const char *name; void (*run)(long); long rounds; } kernels[] = {
	{"chase_plain", chase_plain, 6000000}, {"chase_counter", chase_counter, 6000000}, {"chase_counters", chase_counters, 6000000}, {"chase_sum", chase_sum, 6000000},
	{"chase_store", chase_store, 6000000}, {"chase_branch", chase_branch, 6000000}, {"chase_call", chase_call, 6000000}, {"chase_index", chase_index, 6000000},
	{"chase_index_counter", chase_index_counter, 6000000}, {"chase_two", chase_two, 3000000}, {"chase_three_one", chase_three_one, 1500000}, {"chase_indirect", chase_indirect, 6000000},
	{"tree_find", tree_find, 500000}, {"hash_open", hash_open, 6000000}, {"hash_chained", hash_chained, 1500000}, {"search_binary", search_binary, 700000}, {"union_find", union_find, 1000000},
	{"gather_serial", gather_serial, 6000000}, {"scatter", scatter, 12000000}, {"modify", modify, 12000000}, {"sum_row", sum_row, 40}, {"sum_column", sum_column, 6}, {"triad", triad, 40},
	{"copy_loop", copy_loop, 60}, {"fill_loop", fill_loop, 40}, {"stencil", stencil, 40}, {"short_loops", short_loops, 5000000}, {"sparse", sparse, 3}, {"histogram", histogram, 4},
	{"rep_movsb", rep_movsb, 120}, {"rep_stosq", rep_stosq, 60}, {"rep_short", rep_short, 8000000}, {"lib_memcpy", lib_memcpy, 120}, {"lib_memset", lib_memset, 200}, {"lib_memchr", lib_memchr, 120},
	{"generated", generated, 6000000},
#ifdef __AVX2__
	{"avx2_sum", avx2_sum, 60}, {"avx2_gather", avx2_gather, 10},
#endif
#ifdef __AVX512F__
	{"avx512_copy", avx512_copy, 60},
#endif
};

int main(int argc, char **argv)
{
	chain(pool);
	chain(other);
	shuffle(follow, 2 * N);
	shuffle(order, N / 2);
	root = insert(0, N / 2);
	shuffle(order, N);
	for (uint32_t i = 0; i < N / 4; i++) heads[i] = rnd() % N;
	for (uint32_t i = 0; i < 2 * N; i++) { table[i] = i; big[i] = i; }
	for (size_t i = 0; i < sizeof text; i++) text[i] = i % 251;
	for (size_t i = 0; argc > 1 && i < sizeof kernels / sizeof *kernels; i++)
		if (!strcmp(kernels[i].name, argv[1])) {
			kernels[i].run(kernels[i].rounds / (argc > 2 ? atol(argv[2]) : 1));
			return 0;
		}
	return 2;
}
