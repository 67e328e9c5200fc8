/* Tracepoints around calls of MPI, as wrappers of it have them. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER mpi
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./calls.h"
#if !defined(CALLS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define CALLS_H
#include <lttng/tracepoint.h>
LTTNG_UST_TRACEPOINT_EVENT(mpi, MPI_Send_entry, LTTNG_UST_TP_ARGS(int, dest, const char *, what, const double *, values, unsigned, n),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, dest, dest) lttng_ust_field_string(what, what)
		lttng_ust_field_sequence(double, values, values, unsigned, n)))
LTTNG_UST_TRACEPOINT_EVENT(mpi, MPI_Send_exit, LTTNG_UST_TP_ARGS(int, error), LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, error, error)))
LTTNG_UST_TRACEPOINT_EVENT(mpi, progress, LTTNG_UST_TP_ARGS(int, step), LTTNG_UST_TP_FIELDS(lttng_ust_field_float(float, step, step)))
#endif
#include <lttng/tracepoint-event.h>
