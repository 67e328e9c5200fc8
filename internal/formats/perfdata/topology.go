package perfdata

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/machine/hw"
)

// topology builds the hardware tree from the features; nil if they do not
// describe one.
func (t *fileFeatures) topology() ([]byte, error) {
	if len(t.Packages) == 0 && len(t.Nodes) == 0 && len(t.Caches) == 0 {
		return nil, nil
	}
	spec := hw.Spec{Name: t.Hostname, Source: "perf.data"}
	var all []int
	add := func(o hw.Object) {
		spec.Objects = append(spec.Objects, o)
		all = append(all, o.CPUs...)
	}
	for i, set := range t.Packages {
		add(hw.Object{Kind: hw.Package, OS: i, CPUs: set, Model: t.CPUDesc})
	}
	for _, set := range t.Dies {
		if !slices.ContainsFunc(t.Packages, func(p hw.CPUs) bool { return slices.Equal(p, set) }) {
			add(hw.Object{Kind: hw.Die, OS: -1, CPUs: set})
		}
	}
	for _, set := range t.Cores {
		add(hw.Object{Kind: hw.Core, OS: -1, CPUs: set})
	}
	for _, n := range t.Nodes {
		add(hw.Object{Kind: hw.NUMA, OS: n.Number, CPUs: n.CPUs, Size: n.TotalKiB << 10})
	}
	for _, c := range t.Caches {
		if kind, ok := hw.Cache(c.Level); ok && len(c.CPUs) > 0 {
			add(hw.Object{Kind: kind, OS: -1, CPUs: c.CPUs, Size: parseSize(c.Size), Line: c.Line, Ways: c.Ways,
				Instruction: c.Type == "Instruction"})
		}
	}
	t.wholeMachine(&spec, hw.NewCPUs(all))
	tree, err := hw.Build(spec)
	if err != nil {
		return nil, err
	}
	return json.Marshal(tree)
}

// wholeMachine adds the CPUs themselves, and says what the file leaves out.
func (t *fileFeatures) wholeMachine(spec *hw.Spec, cpus hw.CPUs) {
	for _, cpu := range cpus {
		spec.Objects = append(spec.Objects, hw.Object{Kind: hw.CPU, OS: cpu, CPUs: hw.CPUs{cpu}})
	}
	if len(t.Nodes) == 0 {
		spec.Objects = append(spec.Objects, hw.Object{Kind: hw.NUMA, OS: 0, CPUs: cpus, Size: t.TotalKiB << 10})
		spec.Warnings = append(spec.Warnings, "the recording names no memory nodes; all memory is taken as one")
	}
	if len(t.Caches) == 0 {
		spec.Warnings = append(spec.Warnings, "the recording describes no caches: samples served by one are placed on a cache of unknown size; give --topology XML for the real ones")
	}
}

// parseSize reads "48K" or "36M".
func parseSize(s string) uint64 {
	s = strings.TrimSuffix(strings.TrimSpace(s), "B")
	shift := 0
	switch {
	case strings.HasSuffix(s, "K"):
		shift = 10
	case strings.HasSuffix(s, "M"):
		shift = 20
	case strings.HasSuffix(s, "G"):
		shift = 30
	}
	if shift > 0 {
		s = s[:len(s)-1]
	}
	n, err := strconv.ParseUint(s, 10, 33)
	if err != nil {
		return 0
	}
	return n << shift
}
