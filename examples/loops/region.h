/* Marks the part of a program worth recording. The functions are found by name
 * in the program's symbol table, so they must exist as functions. */
#ifndef REGION_H
#define REGION_H

#ifdef __cplusplus
extern "C" {
#endif
__attribute__((noinline, used)) void region_begin(void);
__attribute__((noinline, used)) void region_end(void);
#ifdef __cplusplus
}
#endif

#endif
