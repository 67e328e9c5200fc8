/* An allocator that does not tell the sizes of its blocks. */
#include <stddef.h>
#include <string.h>

static char pool[64 << 20] __attribute__((aligned(4096)));
static size_t used;

void *malloc(size_t n)
{
	size_t at = __atomic_fetch_add(&used, (n + 4096 + 4095) & ~(size_t)4095, __ATOMIC_RELAXED);
	return at + n + 4096 > sizeof pool ? 0 : pool + at; /* begins on a page: nothing lies before it */
}
void free(void *p) { (void)p; }
void *calloc(size_t n, size_t size) { return malloc(n * size); }
void *realloc(void *p, size_t n)
{
	char *q = malloc(n);
	if (q && p)
		memcpy(q, p, (size_t)(pool + sizeof pool - (char *)p) < n ? (size_t)(pool + sizeof pool - (char *)p) : n);
	return q;
}
int posix_memalign(void **p, size_t align, size_t n)
{
	(void)align;
	*p = malloc(n);
	return *p ? 0 : 12;
}
void *aligned_alloc(size_t align, size_t n) { (void)align; return malloc(n); }
void *memalign(size_t align, size_t n) { (void)align; return malloc(n); }
