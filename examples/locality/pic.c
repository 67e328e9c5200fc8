// Particles in a cell: charge is spread over a grid, smoothed into a potential,
// whose slope is the field that pushes the particles on. Everything it computes
// is right; how it lies in memory and in which order it is walked could be better.
// isobath demo locality shows why, and by how much.
#include <stdio.h>

struct particle {
  double x, y, x0, y0, weight, born, path, id;
  double vx, vy, spin[3], energy;
  int kind, cell;
  double spare;
};

enum { N = 256, COUNT = 16384, STEPS = 2 };

static struct particle p[COUNT];
static double rho[N][N];
static double phi[N][N];
static double ex[N][N];
static double ey[N][N];

static void deposit(void)
{
  for (int k = 0; k < COUNT; k++) {
    int i = (int)p[k].x, j = (int)p[k].y;
    double fx = p[k].x - i, fy = p[k].y - j, w = p[k].weight;
    rho[j][i] += w * (1 - fx) * (1 - fy);
    rho[j][i + 1] += w * fx * (1 - fy);
    rho[j + 1][i] += w * (1 - fx) * fy;
    rho[j + 1][i + 1] += w * fx * fy;
  }
}

static void smooth(void)
{
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < N - 1; j++)
      phi[j][i] = 0.25 * (rho[j - 1][i] + rho[j + 1][i] +
                          rho[j][i - 1] + rho[j][i + 1]);
}

static void field(void)
{
  for (int j = 1; j < N - 1; j++)
    for (int i = 1; i < N - 1; i++) {
      ex[j][i] = 0.5 * (phi[j][i - 1] - phi[j][i + 1]);
      ey[j][i] = 0.5 * (phi[j - 1][i] - phi[j + 1][i]);
    }
}

static void push(void)
{
  for (int k = 0; k < COUNT; k++) {
    int i = (int)p[k].x, j = (int)p[k].y;
    p[k].vx += 0.01 * (ex[j][i] + ex[j][i + 1] + ex[j + 1][i] + ex[j + 1][i + 1]);
    p[k].vy += 0.01 * (ey[j][i] + ey[j][i + 1] + ey[j + 1][i] + ey[j + 1][i + 1]);
    double x = p[k].x + p[k].vx, y = p[k].y + p[k].vy;
    if (x >= 1 && x < N - 2)
      p[k].x = x;
    if (y >= 1 && y < N - 2)
      p[k].y = y;
  }
}

static void steps(void)
{
  for (int s = 0; s < STEPS; s++) {
    deposit();
    smooth();
    field();
    push();
  }
}

static unsigned random_state = 12345;

static double uniform(void)
{
  random_state = random_state * 1664525u + 1013904223u;
  return (random_state >> 8) / 16777216.0;
}

int main(void)
{
  for (int k = 0; k < COUNT; k++) {
    p[k].x = p[k].x0 = 1 + (N - 3) * uniform();
    p[k].y = p[k].y0 = 1 + (N - 3) * uniform();
    p[k].vx = uniform() - 0.5;
    p[k].vy = uniform() - 0.5;
    p[k].weight = 1;
  }
  steps();
  double sum = 0;
  for (int k = 0; k < COUNT; k++)
    sum += p[k].x + p[k].y;
  printf("%.6f\n", sum);
}
