// Package machine is the hardware: its tree of packages, NUMA nodes, caches
// and CPUs, where on it a sample was served, and a model of its caches.
//
// In: descriptions of a machine; the CPU and level of a sample.
//
// Out: resources, places, modelled hits and misses.
//
// Imported by: code and everything after it.
//
//   - hw: the tree, placing samples (hw.Placer), drawing it (hw/show), reading
//     this machine (hw/sysfs)
//   - cachesim: caches, coherence and TLBs, access by access
//   - topotest: trees that tests share
package machine
