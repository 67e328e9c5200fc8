// Package replay runs the references of a trace through the caches of a machine,
// as they were recorded or with their addresses or their order changed. All it
// says is modelled: LRU, no prefetching but as a band, empty caches at the start.
package replay
