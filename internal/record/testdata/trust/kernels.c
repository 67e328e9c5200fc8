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
double a[N] __attribute__((aligned(64))), b[N] __attribute__((aligned(64))), c[N] __attribute__((aligned(64))), big[2 * N] __attribute__((aligned(64)));
unsigned char text[4 * N], copy[4 * N];
volatile long sink;

static uint64_t state = 88172645463325252ull;
static uint64_t rnd(void) { state ^= state << 13; state ^= state >> 7; state ^= state << 17; return state; }

__attribute__((noinline)) static void shuffle(uint32_t *p, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) p[i] = i;
	for (uint32_t i = n - 1; i > 0; i--) { uint32_t k = rnd() % (i + 1), t = p[i]; p[i] = p[k]; p[k] = t; }
}

/* A ring of the first n nodes in random order. It returns one of them. */
__attribute__((noinline)) static struct node *chain(struct node *p, uint32_t n)
{
	shuffle(order, n);
	for (uint32_t i = 0; i < n; i++) { p[order[i]].next = &p[order[(i + 1) % n]]; p[order[i]].value = i; }
	return &p[order[0]];
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
/* Eight hits, one after the other, behind each miss: what a step waits for them is their
 * latency, which nothing hides, as the next miss is under way meanwhile but the thread
 * stands here. The first index comes from the miss. */
static void chase_index_late(long n)
{
	uint32_t i = 0; long at = 0;
	while (n--) {
		i = follow[i];
		at = counters[(i & 63) + at]; at = counters[at]; at = counters[at]; at = counters[at];
		at = counters[at]; at = counters[at]; at = counters[at]; at = counters[at];
	}
	sink = i + at;
}
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
/* Three dependent steps in one, one in the other: 75 to 25. The other ring has a
 * third of the nodes, so that lines of both are used again equally soon. */
static void chase_three_one(long n)
{
	struct node *p = pool; struct node *q = chain(other, N / 3);
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

/* A list whose links are hidden by what came before. */
static void chase_xor(long n) { uint32_t i = 0, before = 0; while (n--) { uint32_t next = (follow[i] ^ before) % (2 * N); before = i & 1; i = next; } sink = i; }

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

/* Two places a key may be at, looked at one after the other. */
static void hash_two(long n) { long s = 0; while (n--) { uint64_t k = rnd() + (s & 1); long v = table[k % (2 * N)]; s += v + follow[(k * 0x9e3779b97f4a7c15ull + (v & 1)) >> 42]; } sink = s; }
/* A tree of eight keys a node, laid out in one array. */
static void tree_wide(long n)
{
	long s = 0;
	while (n--) {
		long key = rnd() % (2 * N); uint64_t at = 0;
		while (at < 2 * N / 8) { uint64_t k = 0; while (k < 7 && table[8 * at + k] % (2 * N) < key) k++; at = 8 * at + 1 + k; }
		s += at;
	}
	sink = s;
}
/* From the root of a heap to a leaf, by the larger child. */
static void tree_heap(long n)
{
	long s = 0;
	while (n--) {
		uint32_t i = rnd() % 64;
		while (2 * i + 2 < 2 * N) i = 2 * i + 1 + (follow[2 * i + 1] < follow[2 * i + 2]);
		s += i;
	}
	sink = s;
}
static void bitmap(long n) { long s = 0; while (n--) { uint64_t k = rnd() % (sizeof table * 8); s += table[k / 64] >> (k % 64) & 1; } sink = s; }

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
static void rep_gather(long n) { while (n--) { void *d = counters, *s = (char *)big + rnd() % (sizeof big / 64) * 64; size_t k = 8; __asm__ volatile("rep movsq" : "+D"(d), "+S"(s), "+c"(k)::"memory"); } }
static void rep_scasb(long n) { while (n--) { void *d = text; size_t k = sizeof text; __asm__ volatile("repne scasb" : "+D"(d), "+c"(k) : "a"(255) : "memory", "cc"); } }
static void rep_cmpsb(long n) { while (n--) { void *d = text, *s = text; size_t k = sizeof text; __asm__ volatile("repe cmpsb" : "+D"(d), "+S"(s), "+c"(k)::"memory", "cc"); } }
static void lods(long n) { while (n--) { void *s = big; size_t k = sizeof big / 8; __asm__ volatile("1: lodsq\n dec %1\n jne 1b" : "+S"(s), "+c"(k)::"rax", "memory", "cc"); } }
static void lib_memcpy(long n) { while (n--) { memcpy(copy, text, sizeof copy); __asm__ volatile("" ::: "memory"); } }
static void lib_memset(long n) { while (n--) { memset(copy, (int)n, sizeof copy); __asm__ volatile("" ::: "memory"); } }
static void lib_memchr(long n) { long s = 0; while (n--) { s += (long)memchr(text, 255, sizeof text); __asm__ volatile("" ::: "memory"); } sink = s; }

#ifdef __AVX2__
static void avx2_sum(long n) { __m256d s = _mm256_setzero_pd(); while (n--) for (uint32_t i = 0; i < 2 * N; i += 4) s = _mm256_add_pd(s, _mm256_load_pd(&big[i])); sink = s[0]; }
static void avx2_gather(long n) { __m256d s = _mm256_setzero_pd(); while (n--) for (uint32_t i = 0; i < N; i += 4) { s = _mm256_add_pd(s, _mm256_i32gather_pd(big, _mm_loadu_si128((void *)&order[i]), 8)); counter++; } sink = s[0]; }
#endif
#ifdef __AVX512F__
static void avx512_sum(long n) { __m512d s = _mm512_setzero_pd(); while (n--) for (uint32_t i = 0; i < 2 * N; i += 8) { s = _mm512_add_pd(s, _mm512_load_pd(&big[i])); counters[i & 63]++; } sink = s[0]; }
static void avx512_masked(long n) { while (n--) for (uint32_t i = 0; i < N; i += 8) _mm512_mask_store_pd(&a[i], 0x55, _mm512_maskz_load_pd(0x33, &b[i])); }
static void avx512_gather(long n) { __m512d s = _mm512_setzero_pd(); while (n--) for (uint32_t i = 0; i < N; i += 8) { s = _mm512_add_pd(s, _mm512_i32gather_pd(_mm256_loadu_si256((void *)&order[i]), big, 8)); counter++; } sink = s[0]; }
static void avx512_copy(long n) { while (n--) for (uint32_t i = 0; i < N; i += 8) _mm512_store_pd(&a[i], _mm512_load_pd(&b[i])); }
#endif

/* Code made at run time. */
typedef long made(void *data, long n, long *count);
static made *make(const unsigned char *code, size_t size)
{
	unsigned char *m = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(m + 64, code, size);
	return (made *)(void *)(m + 64);
}
/* 1: p = *p; ++*count; if (--n) goto 1; */
static void generated(long n)
{
	static const unsigned char code[] = {0x48, 0x8b, 0x3f, 0x48, 0xff, 0x02, 0x48, 0xff, 0xce, 0x75, 0xf5, 0x48, 0x89, 0xf8, 0xc3};
	sink = make(code, sizeof code)(pool, n, &counter);
}
/* i = 0; 1: i = p[i]; ++*count; if (--n) goto 1; */
static void generated_index(long n)
{
	static const unsigned char code[] = {0x31, 0xc0, 0x8b, 0x04, 0x87, 0x48, 0xff, 0x02, 0x48, 0xff, 0xce, 0x75, 0xf5, 0xc3};
	sink = make(code, sizeof code)(follow, n, &counter);
}
/* s = 0; 1: s += *p; p += 64; if (n -= 8) goto 1; */
static void generated_sweep(long n)
{
	static const unsigned char code[] = {0x31, 0xc0, 0x48, 0x03, 0x07, 0x48, 0x83, 0xc7, 0x40, 0x48, 0x83, 0xee, 0x08, 0x75, 0xf3, 0xc3};
	made *sum = make(code, sizeof code);
	while (n--) sink = sum(table, 2 * N, &counter);
}

static const struct { const char *name; void (*run)(long); long rounds; } kernels[] = {
	{"chase_plain", chase_plain, 6000000}, {"chase_counter", chase_counter, 6000000}, {"chase_counters", chase_counters, 6000000}, {"chase_sum", chase_sum, 6000000},
	{"chase_store", chase_store, 6000000}, {"chase_branch", chase_branch, 6000000}, {"chase_call", chase_call, 6000000}, {"chase_index", chase_index, 6000000},
	{"chase_index_counter", chase_index_counter, 6000000}, {"chase_index_late", chase_index_late, 6000000}, {"chase_two", chase_two, 3000000}, {"chase_three_one", chase_three_one, 1500000}, {"chase_indirect", chase_indirect, 6000000},
	{"tree_find", tree_find, 500000}, {"hash_open", hash_open, 6000000}, {"hash_chained", hash_chained, 1500000}, {"search_binary", search_binary, 700000}, {"union_find", union_find, 1000000},
	{"gather_serial", gather_serial, 6000000}, {"scatter", scatter, 12000000}, {"modify", modify, 12000000}, {"sum_row", sum_row, 40}, {"sum_column", sum_column, 6}, {"triad", triad, 40},
	{"copy_loop", copy_loop, 60}, {"fill_loop", fill_loop, 40}, {"stencil", stencil, 40}, {"short_loops", short_loops, 5000000}, {"sparse", sparse, 3}, {"histogram", histogram, 4},
	{"rep_movsb", rep_movsb, 120}, {"rep_stosq", rep_stosq, 60}, {"rep_short", rep_short, 8000000}, {"rep_gather", rep_gather, 8000000}, {"lib_memcpy", lib_memcpy, 120}, {"lib_memset", lib_memset, 200}, {"lib_memchr", lib_memchr, 400},
	{"generated", generated, 6000000}, {"generated_index", generated_index, 6000000}, {"generated_sweep", generated_sweep, 60}, {"chase_xor", chase_xor, 6000000},
	{"hash_two", hash_two, 6000000}, {"tree_wide", tree_wide, 4000000}, {"tree_heap", tree_heap, 4000000}, {"bitmap", bitmap, 8000000},
	{"rep_scasb", rep_scasb, 200}, {"rep_cmpsb", rep_cmpsb, 200}, {"lods", lods, 40},
#ifdef __AVX2__
	{"avx2_sum", avx2_sum, 60}, {"avx2_gather", avx2_gather, 10},
#endif
#ifdef __AVX512F__
	{"avx512_copy", avx512_copy, 60}, {"avx512_sum", avx512_sum, 60}, {"avx512_masked", avx512_masked, 60}, {"avx512_gather", avx512_gather, 10},
#endif
};

int main(int argc, char **argv)
{
	chain(pool, N);
	chain(other, N);
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
