/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the Isobath authors */
/*
 * isobath_step.h: hand the mesh and the variables of a running simulation to
 * Isobath at a time step, in place of a dump.
 *
 *     #include "isobath_step.h"
 *
 *     isobath_step *s = isobath_step_begin(iteration, time);
 *     isobath_step_mesh(s, points, xyz, cells, 8, corners);    hexahedra
 *     isobath_step_cells(s, "e", e, 1);
 *     isobath_step_points(s, "velocity", v, 3);
 *     isobath_step_end(s);
 *
 * Nothing has to be linked. Without ISOBATH_STEPS, the folder that
 * `isobath mesh --insitu FOLDER -- PROGRAM` names, begin returns NULL and every
 * call does nothing. A step appears in the folder whole or not at all, as a
 * legacy VTK file that other programs read too. One process hands a mesh over.
 * C99 and C++98 and later, POSIX.
 */
#ifndef ISOBATH_STEP_H
#define ISOBATH_STEP_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ISOBATH_STEP_CALL static __attribute__((unused))
#else
#define ISOBATH_STEP_CALL static
#endif

typedef struct isobath_step {
	FILE *file;   /* geometry and variables on cells */
	FILE *points; /* variables on points, which follow those on cells */
	char made[1024], name[1024];
	long cells, corners_of_mesh;
	int on_cells, on_points, failed;
} isobath_step;

/* Numbers of legacy VTK are big-endian. */
static void isobath_step_raw(isobath_step *s, FILE *f, const void *values, size_t size, size_t n)
{
	const int one = 1;
	const int little = *(const char *)&one;
	unsigned char buffer[8 * 512];
	const unsigned char *from = (const unsigned char *)values;
	while (n > 0 && !s->failed) {
		size_t now = n < 512 ? n : 512, i, k;
		for (i = 0; i < now; i++)
			for (k = 0; k < size; k++)
				buffer[i * size + k] = from[i * size + (little ? size - 1 - k : k)];
		s->failed = fwrite(buffer, size, now, f) != now;
		from += now * size;
		n -= now;
	}
}

/* The numbers of one array, which a new line ends. */
static void isobath_step_put(isobath_step *s, FILE *f, const void *values, size_t size, size_t n)
{
	isobath_step_raw(s, f, values, size, n);
	if (!s->failed)
		s->failed = putc('\n', f) == EOF;
}

/* Begins a step; NULL if nobody asked for steps, or the folder cannot be written. */
ISOBATH_STEP_CALL isobath_step *isobath_step_begin(long iteration, double time)
{
	const char *folder = getenv("ISOBATH_STEPS");
	isobath_step *s;
	int cycle = (int)iteration;
	if (!folder || !*folder || strlen(folder) > 900 || !(s = (isobath_step *)calloc(1, sizeof *s)))
		return NULL;
	sprintf(s->name, "%s/step_%010ld.vtk", folder, iteration);
	sprintf(s->made, "%s/.step_%010ld.%ld", folder, iteration, (long)getpid());
	s->file = fopen(s->made, "wb");
	s->points = tmpfile();
	if (!s->file || !s->points) {
		if (s->file) {
			fclose(s->file);
			remove(s->made);
		}
		if (s->points)
			fclose(s->points);
		free(s);
		return NULL;
	}
	fprintf(s->file, "# vtk DataFile Version 3.0\nhanded over by isobath_step.h\nBINARY\nDATASET UNSTRUCTURED_GRID\nFIELD FieldData 2\nTIME 1 1 double\n");
	isobath_step_put(s, s->file, &time, sizeof time, 1);
	fprintf(s->file, "CYCLE 1 1 int\n");
	isobath_step_put(s, s->file, &cycle, sizeof cycle, 1);
	return s;
}

/* The mesh: x, y, z of each point, and the points of each cell, `each` of them:
 * 8 for hexahedra, 6 wedges, 5 pyramids, 4 tetrahedra, 3 triangles, -4 quadrilaterals. */
ISOBATH_STEP_CALL void isobath_step_mesh(isobath_step *s, long points, const double *xyz, long cells, int each, const int *corners)
{
	int type = each == 8 ? 12 : each == 6 ? 13 : each == 5 ? 14 : each == 4 ? 10 : each == 3 ? 5 : each == -4 ? 9 : 0;
	int n = each < 0 ? -each : each;
	long c;
	if (!s)
		return;
	if (type == 0 || points < 1 || cells < 1 || s->cells > 0) {
		s->failed = 1;
		return;
	}
	s->cells = cells;
	s->corners_of_mesh = points;
	fprintf(s->file, "POINTS %ld double\n", points);
	isobath_step_put(s, s->file, xyz, sizeof *xyz, 3 * (size_t)points);
	fprintf(s->file, "CELLS %ld %ld\n", cells, cells * (n + 1));
	for (c = 0; c < cells && !s->failed; c++) {
		int row[9];
		row[0] = n;
		memcpy(row + 1, corners + c * n, (size_t)n * sizeof *row);
		isobath_step_raw(s, s->file, row, sizeof *row, (size_t)n + 1);
	}
	fprintf(s->file, "\nCELL_TYPES %ld\n", cells);
	for (c = 0; c < cells && !s->failed; c++)
		isobath_step_raw(s, s->file, &type, sizeof type, 1);
	putc('\n', s->file);
}

/* A mesh of nx × ny × nz boxes, x fastest, of a size each from an origin on. */
ISOBATH_STEP_CALL void isobath_step_boxes(isobath_step *s, int nx, int ny, int nz, const double origin[3], const double size[3])
{
	long points, cells;
	double *xyz;
	int *corners;
	long i = 0;
	int x, y, z, k;
	if (!s)
		return;
	points = (long)(nx + 1) * (ny + 1) * (nz + 1);
	cells = (long)nx * ny * nz;
	xyz = (double *)malloc(3 * (size_t)points * sizeof *xyz);
	corners = (int *)malloc(8 * (size_t)cells * sizeof *corners);
	if (nx < 1 || ny < 1 || nz < 1 || !xyz || !corners) {
		s->failed = 1;
		free(xyz);
		free(corners);
		return;
	}
	for (z = 0; z <= nz; z++)
		for (y = 0; y <= ny; y++)
			for (x = 0; x <= nx; x++) {
				xyz[i++] = origin[0] + x * size[0];
				xyz[i++] = origin[1] + y * size[1];
				xyz[i++] = origin[2] + z * size[2];
			}
	i = 0;
	for (z = 0; z < nz; z++)
		for (y = 0; y < ny; y++)
			for (x = 0; x < nx; x++)
				for (k = 0; k < 8; k++) {
					int dx = k == 1 || k == 2 || k == 5 || k == 6, dy = k == 2 || k == 3 || k == 6 || k == 7;
					corners[i++] = x + dx + (nx + 1) * (y + dy + (ny + 1) * (z + k / 4));
				}
	isobath_step_mesh(s, points, xyz, cells, 8, corners);
	free(xyz);
	free(corners);
}

static void isobath_step_variable(isobath_step *s, FILE *f, const char *name, const double *values, int components, long n)
{
	size_t i;
	if (components != 1 && components != 3) {
		s->failed = 1;
		return;
	}
	if (components == 3)
		fputs("VECTORS ", f);
	else
		fputs("SCALARS ", f);
	for (i = 0; name[i]; i++)
		putc(name[i] > ' ' ? name[i] : '_', f);
	fputs(components == 3 ? " double\n" : " double 1\nLOOKUP_TABLE default\n", f);
	isobath_step_put(s, f, values, sizeof *values, (size_t)n * (size_t)components);
}

/* A variable on cells: one number of each, or three. After the mesh. */
ISOBATH_STEP_CALL void isobath_step_cells(isobath_step *s, const char *name, const double *values, int components)
{
	if (!s)
		return;
	if (!s->on_cells++)
		fprintf(s->file, "CELL_DATA %ld\n", s->cells);
	isobath_step_variable(s, s->file, name, values, components, s->cells);
}

/* A variable on points. After the mesh. */
ISOBATH_STEP_CALL void isobath_step_points(isobath_step *s, const char *name, const double *values, int components)
{
	if (!s)
		return;
	if (!s->on_points++)
		fprintf(s->points, "POINT_DATA %ld\n", s->corners_of_mesh);
	isobath_step_variable(s, s->points, name, values, components, s->corners_of_mesh);
}

/* Hands the step over; 0 if it is in the folder, or nobody asked for it. */
ISOBATH_STEP_CALL int isobath_step_end(isobath_step *s)
{
	char buffer[4096];
	size_t n;
	int failed;
	if (!s)
		return 0;
	rewind(s->points);
	while ((n = fread(buffer, 1, sizeof buffer, s->points)) > 0 && !s->failed)
		s->failed = fwrite(buffer, 1, n, s->file) != n;
	failed = s->failed || s->cells == 0 || ferror(s->file) || ferror(s->points);
	failed = fclose(s->file) != 0 || failed;
	fclose(s->points);
	if (!failed)
		failed = rename(s->made, s->name) != 0;
	if (failed)
		remove(s->made);
	free(s);
	return failed ? -1 : 0;
}

#ifdef __cplusplus
}
#endif

#endif
