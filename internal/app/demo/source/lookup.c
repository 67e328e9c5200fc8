/* lookup.c: look up cross sections of random particles in a large table.
 *
 * Three phases: every thread draws the energies of its particles (cheap); the
 * energies are sorted in buckets, one a thread (the first bucket is sixteen
 * times as full as the others, so one core works on while the others wait);
 * then every thread looks its particles up, which jumps about in a table that
 * fits no cache and that one thread has filled.
 *
 *   cc -O2 -fopenmp -o lookup lookup.c && ./lookup
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 32, ROWS = 1 << 18, WIDTH = 6 };
enum { BUCKET = 1024, FULL = 16 * BUCKET, LOOKUPS = 3000, DRAWS = 12000 };

static double *table, *grid, *bucket[THREADS];
static unsigned long seed[THREADS][8];
static double total[THREADS][8];

static double draw(int t)
{
    unsigned long s = seed[t][0];
    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
    seed[t][0] = s;
    return (double)(s >> 11) / 9007199254740992.0;
}

static int size(int t) { return t == 0 ? FULL : BUCKET; }

static void setup(void)
{
    table = malloc(sizeof *table * ROWS * WIDTH);
    grid = malloc(sizeof *grid * ROWS);
    if (!table || !grid)
        exit(1);
    for (long i = 0; i < ROWS; i++) {
        grid[i] = (double)i / ROWS;
        for (int k = 0; k < WIDTH; k++)
            table[i * WIDTH + k] = 1.0 / (1 + i + k);
    }
    for (int t = 0; t < THREADS; t++) {
        bucket[t] = calloc(size(t), sizeof **bucket);
        if (!bucket[t])
            exit(1);
        seed[t][0] = 88172645463325252UL + t;
    }
}

/* generate draws the energies of a thread's particles. */
static void generate(int t)
{
    for (int i = 0; i < DRAWS; i++) {
        double e = draw(t);
        bucket[t][i % BUCKET] = e;
    }
}

/* sort orders a bucket by gaps that shrink by a third. */
static void sort(int t)
{
    double *b = bucket[t];
    int n = size(t);
    for (int gap = n; gap > 1;) {
        gap = gap * 2 / 3;
        for (int i = 0; i + gap < n; i++) {
            double low = b[i];
            double high = b[i + gap];
            if (low > high) {
                b[i] = high;
                b[i + gap] = low;
            }
        }
    }
}

/* find returns the row of the grid that an energy falls into. */
static long find(double e)
{
    long lo = 0, hi = ROWS;
    while (hi - lo > 1) {
        long mid = (lo + hi) / 2;
        if (grid[mid] > e)
            hi = mid;
        else
            lo = mid;
    }
    return lo;
}

static void lookup(int t)
{
    for (int i = 0; i < LOOKUPS; i++) {
        double e = draw(t);
        long row = find(e);
        double sum = 0.0;
        for (int k = 0; k < WIDTH; k++)
            sum += table[row * WIDTH + k];
        total[t][0] += sum;
    }
}

int main(void)
{
    setup();
    omp_set_dynamic(0);
    omp_set_num_threads(THREADS);
#pragma omp parallel
    {
        int t = omp_get_thread_num();
        generate(t);
#pragma omp barrier
        sort(t);
#pragma omp barrier
        lookup(t);
    }
    double sum = 0.0;
    for (int t = 0; t < THREADS; t++)
        sum += total[t][0];
    printf("sum %.9g\n", sum);
    return 0;
}
