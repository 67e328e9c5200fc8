// Package reuse measures how far apart the uses of each line of memory lie, in
// one pass over the references: reuse distances by instruction, object, field
// and thread, the footprint, the working set, strides, and the bytes used of
// what a cache fetches.
package reuse
