/* Makes mixed.silo in the HDF5 driver: a rectilinear mesh, a curvilinear mesh,
   an unstructured mesh of mixed shapes and a point mesh, each with variables.
   cc make.c -lsiloh5 -lstdc++ && ./a.out */
#include <silo.h>

int main(void) {
  DBfile *f = DBCreate("mixed.silo", DB_CLOBBER, DB_LOCAL, "mixed", DB_HDF5);
  int cycle = 12;
  double dtime = 0.5;
  DBoptlist *o = DBMakeOptlist(4);
  DBAddOption(o, DBOPT_CYCLE, &cycle);
  DBAddOption(o, DBOPT_DTIME, &dtime);

  double x[] = {0, 1, 3, 4}, y[] = {0, 2, 3};
  double *rc[] = {x, y};
  int rd[] = {4, 3}, rz[] = {3, 2};
  const char *xy[] = {"x", "y", "z"};
  DBPutQuadmesh(f, "rect", xy, rc, rd, 2, DB_DOUBLE, DB_COLLINEAR, o);
  float d[6], t[12];
  for (int i = 0; i < 6; i++) d[i] = 10 + i;
  for (int i = 0; i < 12; i++) t[i] = 100 + i;
  DBPutQuadvar1(f, "d", "rect", d, rz, 2, 0, 0, DB_FLOAT, DB_ZONECENT, 0);
  DBPutQuadvar1(f, "t", "rect", t, rd, 2, 0, 0, DB_FLOAT, DB_NODECENT, 0);

  double cx[8], cy[8], cz[8];
  for (int i = 0; i < 8; i++) { cx[i] = i & 1; cy[i] = i >> 1 & 1; cz[i] = i >> 2; }
  double *cc[] = {cx, cy, cz};
  int cd[] = {2, 2, 2}, cz1[] = {1, 1, 1};
  DBPutQuadmesh(f, "curv", xy, cc, cd, 3, DB_DOUBLE, DB_NONCOLLINEAR, o);
  double one = 7;
  DBPutQuadvar1(f, "one", "curv", &one, cz1, 3, 0, 0, DB_DOUBLE, DB_ZONECENT, 0);

  /* a hexahedron, on it a pyramid, beside it a wedge, and a tetrahedron */
  double ux[] = {0, 1, 1, 0, 0, 1, 1, 0, 0.5, 2, 2}, uy[] = {0, 0, 1, 1, 0, 0, 1, 1, 0.5, 0, 1}, uz[] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 0, 0};
  double *uc[] = {ux, uy, uz};
  int nodes[] = {0, 1, 2, 3, 4, 5, 6, 7, 4, 7, 6, 5, 8, 1, 2, 6, 5, 9, 10, 1, 9, 5, 8};
  int sizes[] = {8, 5, 6, 4}, counts[] = {1, 1, 1, 1};
  int types[] = {DB_ZONETYPE_HEX, DB_ZONETYPE_PYRAMID, DB_ZONETYPE_PRISM, DB_ZONETYPE_TET};
  DBPutZonelist2(f, "zl", 4, 3, nodes, 23, 0, 0, 0, types, sizes, counts, 4, 0);
  DBPutUcdmesh(f, "ucd", 3, xy, uc, 11, 4, "zl", 0, DB_DOUBLE, o);
  double u[] = {1, 2, 3, 4};
  DBPutUcdvar1(f, "u", "ucd", u, 4, 0, 0, DB_DOUBLE, DB_ZONECENT, 0);
  int mats[] = {5, 6}, list[] = {5, 6, 5, 6}, n = 4;
  DBPutMaterial(f, "mat", "ucd", 2, mats, list, &n, 1, 0, 0, 0, 0, 0, DB_DOUBLE, 0);

  double *pc[] = {ux, uy, uz};
  DBPutPointmesh(f, "points", 3, pc, 5, DB_DOUBLE, o);
  DBPutPointvar1(f, "mass", "points", ux, 5, DB_DOUBLE, 0);
  return DBClose(f);
}
