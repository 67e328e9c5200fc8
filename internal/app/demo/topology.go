package demo

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/isobath/isobath/internal/machine/cachesim"
)

// topologyXML describes a machine as hwloc 2 exports it.
func topologyXML(cfg *cachesim.Config) []byte {
	w := &xmlWriter{cfg: cfg}
	w.buf.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n")
	w.buf.WriteString(`<!DOCTYPE topology SYSTEM "hwloc2.dtd">` + "\n")
	w.buf.WriteString(`<topology version="2.0">` + "\n")
	var all, nodes []int
	for cpu := range cfg.CPUs {
		all = append(all, cpu)
	}
	for s := range cfg.Sockets() {
		nodes = append(nodes, s)
	}
	w.open("Machine", 0, all, nodes, fmt.Sprintf(`allowed_cpuset="%s" allowed_nodeset="%s"`, mask(all), mask(nodes)))
	w.line(`<info name="Backend" value="isobath cache simulator"/>`)
	for _, s := range nodes {
		w.socket(s)
	}
	w.close()
	w.distances(nodes)
	w.buf.WriteString("</topology>\n")
	return w.buf.Bytes()
}

type xmlWriter struct {
	cfg   *cachesim.Config
	buf   bytes.Buffer
	depth int
	next  int // gp_index, unique in the file
}

func (w *xmlWriter) line(format string, args ...any) {
	w.buf.Write(bytes.Repeat([]byte("  "), w.depth+1))
	fmt.Fprintf(&w.buf, format+"\n", args...)
}

// object writes an element that stays open or ends at once. A negative os
// leaves the index out: caches have none.
func (w *xmlWriter) object(kind string, os int, cpus, nodes []int, more, end string) {
	w.next++
	index := ""
	if os >= 0 {
		index = fmt.Sprintf(` os_index="%d"`, os)
	}
	if more != "" {
		more = " " + more
	}
	c, n := mask(cpus), mask(nodes)
	w.line(`<object type="%s"%s cpuset="%s" complete_cpuset="%s" nodeset="%s" complete_nodeset="%s" gp_index="%d"%s%s`,
		kind, index, c, c, n, n, w.next, more, end)
}

func (w *xmlWriter) open(kind string, os int, cpus, nodes []int, more string) {
	w.object(kind, os, cpus, nodes, more, ">")
	w.depth++
}

func (w *xmlWriter) leaf(kind string, os int, cpus, nodes []int, more string) {
	w.object(kind, os, cpus, nodes, more, "/>")
}

func (w *xmlWriter) close() {
	w.depth--
	w.line("</object>")
}

func (w *xmlWriter) socket(s int) {
	cores := map[int][]int{}
	var cpus, order []int
	for cpu, at := range w.cfg.CPUs {
		if at.Socket == s {
			cpus = append(cpus, cpu)
			cores[at.Core] = append(cores[at.Core], cpu)
			if !slices.Contains(order, at.Core) {
				order = append(order, at.Core)
			}
		}
	}
	node := []int{s}
	w.open("Package", s, cpus, node, "")
	w.leaf("NUMANode", s, cpus, node, `local_memory="34359738368"`)
	shared := w.caches(cpus, node, true)
	for _, c := range order {
		private := w.caches(cores[c], node, false)
		w.open("Core", c, cores[c], node, "")
		for _, cpu := range cores[c] {
			w.leaf("PU", cpu, []int{cpu}, node, "")
		}
		for range private + 1 {
			w.close()
		}
	}
	for range shared + 1 {
		w.close()
	}
}

// caches opens the caches of a core or a socket, farthest first, and returns
// how many.
func (w *xmlWriter) caches(cpus, node []int, shared bool) int {
	n := 0
	for i, l := range slices.Backward(w.cfg.Levels) {
		if l.Shared != shared {
			continue
		}
		kind, unified := i+1, 0
		if i == 0 {
			unified = 1 // a data cache
		}
		w.open(fmt.Sprintf("L%dCache", kind), -1, cpus, node, fmt.Sprintf(
			`cache_size="%d" depth="%d" cache_linesize="%d" cache_associativity="%d" cache_type="%d"`,
			l.Size, kind, w.cfg.LineSize, l.Ways, unified))
		n++
	}
	return n
}

// distances are the latencies of memory relative to local memory, which is 10.
func (w *xmlWriter) distances(nodes []int) {
	far := 10 * w.cfg.RemoteRAM / w.cfg.LocalRAM
	var index, values string
	for _, i := range nodes {
		index += fmt.Sprintf("%d ", i)
		for _, j := range nodes {
			d := far
			if i == j {
				d = 10
			}
			values += fmt.Sprintf("%d ", d)
		}
	}
	w.line(`<distances2 type="NUMANode" nbobjs="%d" kind="5" name="NUMALatency" indexing="os">`, len(nodes))
	w.line(`  <indexes length="%d">%s</indexes>`, len(index), index)
	w.line(`  <u64values length="%d">%s</u64values>`, len(values), values)
	w.line(`</distances2>`)
}

// mask writes a set as hwloc does: 32 bits at a time, highest first.
func mask(set []int) string {
	words := make([]uint32, slices.Max(set)/32+1)
	for _, i := range set {
		words[i/32] |= 1 << (i % 32)
	}
	text := ""
	for i, v := range slices.Backward(words) {
		text += fmt.Sprintf("0x%08x", v)
		if i > 0 {
			text += ","
		}
	}
	return text
}
