package syssage

import (
	"strings"

	"github.com/isobath/isobath/internal/formats/xmlwalk"
	"github.com/isobath/isobath/internal/machine/hw"
)

// startGPU begins a chip whose cores are not those of CPUs.
func (v *visitor) startGPU(e *xmlwalk.Element) {
	if len(v.spec.Accelerators) >= hw.MaxAccelerators {
		return
	}
	name := e.Attr("name")
	if id := e.Attr("id"); id != "" && !strings.HasSuffix(name, id) {
		name += " " + id
	}
	v.gpus = []*hw.Accelerator{{Name: name, Model: strings.TrimSpace(e.Attr("vendor") + " " + e.Attr("model"))}}
	v.path = []bool{true}
}

// inGPU reads a component of a GPU: its memory, its multiprocessors, and the
// parts it is divided into. Those that MIG makes are called so; the library
// gives other divisions (of cores that share a cache) the same element.
func (v *visitor) inGPU(e *xmlwalk.Element) {
	if len(v.gpus) == 0 {
		return
	}
	g := v.gpus[len(v.gpus)-1]
	name := e.Attr("name")
	part := e.Name == "Subdivision" && strings.Contains(strings.ToUpper(name), "MIG")
	switch {
	case part && len(g.Parts) < hw.MaxAccelerators:
		v.gpus = append(v.gpus, &hw.Accelerator{Name: strings.TrimSpace(name + " " + e.Attr("id"))})
	case e.Name == "Subdivision" && strings.Contains(name, "SM"), e.Name == "Subdivision" && strings.Contains(name, "Multiprocessor"):
		n, err := e.Int("count", 1)
		if err == nil {
			g.Cores += max(min(n, 1<<20), 1)
		}
	case e.Name == "Memory" || e.Name == "NUMA":
		if size, err := e.Size("size"); err == nil && size > g.Memory {
			g.Memory = size
		}
	}
	v.path = append(v.path, part && len(v.gpus) > 1 && v.gpus[len(v.gpus)-1] != g)
}

// endGPU ends an element inside a GPU, a part of it, or the GPU itself.
func (v *visitor) endGPU() {
	n := len(v.path)
	if n == 0 {
		return
	}
	part := v.path[n-1]
	v.path = v.path[:n-1]
	if !part {
		return
	}
	last := len(v.gpus) - 1
	done := v.gpus[last]
	v.gpus = v.gpus[:last]
	if last == 0 {
		v.spec.Accelerators = append(v.spec.Accelerators, *done)
		return
	}
	v.gpus[last-1].Parts = append(v.gpus[last-1].Parts, *done)
}
