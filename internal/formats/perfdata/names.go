package perfdata

import (
	"fmt"
	"strings"

	"github.com/isobath/isobath/internal/code/perfevent"
)

var (
	hardwareNames = []string{"cycles", "instructions", "cache-references", "cache-misses", "branches", "branch-misses",
		"bus-cycles", "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles"}
	softwareNames = []string{"cpu-clock", "task-clock", "page-faults", "context-switches", "cpu-migrations", "minor-faults",
		"major-faults", "alignment-faults", "emulation-faults", "dummy", "bpf-output", "cgroup-switches"}
	cacheNames   = []string{"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node"}
	cacheOps     = []string{"load", "store", "prefetch"}
	cacheResults = []string{"refs", "misses"}
)

// nameEvents gives every event its name: the one the file has, or the one perf
// would print.
func (f *file) nameEvents() {
	for i, d := range f.features.described {
		at := i
		if len(d.ids) > 0 {
			if e, ok := f.byID[d.ids[0]]; ok {
				at = int(e)
			}
		}
		if at < len(f.events) && f.events[at].Name == "" {
			f.events[at].Name = d.name
		}
	}
	for _, e := range f.events {
		e.PMU = f.features.PMUs[e.Type]
		if e.Name == "" {
			e.Name = e.synthesise()
		}
	}
}

// synthesise names an event from its attr, as perf does.
func (e *eventAttr) synthesise() string {
	name := ""
	switch e.Type {
	case perfevent.TypeHardware:
		name = nameOf(hardwareNames, e.Config, "unknown-hardware")
	case perfevent.TypeSoftware:
		name = nameOf(softwareNames, e.Config, "unknown-software")
	case perfevent.TypeCache:
		name = cacheName(e.Config)
	case perfevent.TypeTracepoint:
		return "unknown tracepoint"
	case perfevent.TypeBreakpoint:
		name = fmt.Sprintf("mem:%#x", e.Config1)
		if e.BPType != 0 {
			name += ":" + breakpointModes(e.BPType)
		}
	case perfevent.TypeRaw:
		name = fmt.Sprintf("raw %#x", e.Config)
	default:
		if e.PMU != "" {
			return fmt.Sprintf("%s/config=%#x/", e.PMU, e.Config)
		}
		return fmt.Sprintf("unknown attr type: %d", e.Type)
	}
	return name + e.modifiers()
}

func nameOf(names []string, n uint64, otherwise string) string {
	if n < uint64(len(names)) {
		return names[n]
	}
	return otherwise
}

// cacheName spells a generic cache event: cache, operation and result, one byte
// each.
func cacheName(config uint64) string {
	cache, op, result := config&0xff, config>>8&0xff, config>>16&0xff
	if cache >= uint64(len(cacheNames)) || op >= uint64(len(cacheOps)) || result >= uint64(len(cacheResults)) {
		return "invalid-cache"
	}
	if result == 0 {
		return cacheNames[cache] + "-" + map[uint64]string{0: "loads", 1: "stores", 2: "prefetches"}[op]
	}
	return cacheNames[cache] + "-" + cacheOps[op] + "-" + cacheResults[result]
}

func breakpointModes(t uint32) string {
	var b strings.Builder
	for i, mode := range "rwx" {
		if t>>i&1 != 0 {
			b.WriteRune(mode)
		}
	}
	return b.String()
}

// modifiers spells where the event counts and how precise it is. perf leaves
// out what is its default, which depends on the others.
func (e *eventAttr) modifiers() string {
	var b strings.Builder
	guestDefault := false
	add := func(excluded uint64, letter byte) {
		if e.Flags&excluded == 0 {
			b.WriteByte(letter)
		}
	}
	if e.Flags&(perfevent.FlagExcludeKernel|perfevent.FlagExcludeUser|perfevent.FlagExcludeHV) != 0 {
		add(perfevent.FlagExcludeKernel, 'k')
		add(perfevent.FlagExcludeUser, 'u')
		add(perfevent.FlagExcludeHV, 'h')
		guestDefault = true
	}
	if p := e.Precise(); p > 0 {
		b.WriteString("ppp"[:p])
		guestDefault = true
	}
	if e.Flags&perfevent.FlagExcludeHost != 0 || (e.Flags&perfevent.FlagExcludeGuest != 0) == guestDefault {
		add(perfevent.FlagExcludeHost, 'H')
		add(perfevent.FlagExcludeGuest, 'G')
	}
	if b.Len() == 0 {
		return ""
	}
	return ":" + b.String()
}
