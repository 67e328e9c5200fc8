package perfdata

import (
	"encoding/hex"
	"fmt"

	"isobath/internal/hw"
)

// Numbers of the feature sections: HEADER_* of perf.
const (
	featBuildID      = 2
	featHostname     = 3
	featOSRelease    = 4
	featVersion      = 5
	featArch         = 6
	featNRCPUs       = 7
	featCPUDesc      = 8
	featCPUID        = 9
	featTotalMem     = 10
	featCmdline      = 11
	featEventDesc    = 12
	featCPUTopology  = 13
	featNUMA         = 14
	featPMUMappings  = 16
	featGroupDesc    = 17
	featCache        = 20
	featClockID      = 23
	featMax          = 256
	maxListed        = 1 << 16 // members of a list in a feature: CPUs, nodes, devices
	maxArguments     = 1 << 16
	eventDescMinimum = 8 + minAttrSize
)

// Features is what a file says about the machine and the recording.
type Features struct {
	Hostname, OSRelease, Version, Arch string
	CPUDesc, CPUID                     string
	TotalKiB                           uint64
	Available, Online                  int
	Cmdline                            []string
	PMUs                               map[uint32]string
	BuildIDs                           map[string]string // file name → hexadecimal id
	Packages, Cores, Dies              []hw.CPUs
	Nodes                              []Node
	Caches                             []CacheDesc
	Groups                             []Group
	described                          []described
	members                            int // CPUs in all lists so far
}

// maxMembers bounds the CPUs of all lists together: a list of a few bytes can
// name 65 536, and there may be as many lists.
const maxMembers = 1 << 22

// cpus reads a list of CPUs.
func (t *Features) cpus(text string) (hw.CPUs, error) {
	set, err := hw.ParseCPUs(text)
	if err != nil {
		return nil, err
	}
	if t.members += len(set); t.members > maxMembers {
		return nil, fmt.Errorf("the lists name more than %d CPUs together: %w", maxMembers, errDamaged)
	}
	return set, nil
}

// Node is a memory node.
type Node struct {
	Number   int
	TotalKiB uint64
	CPUs     hw.CPUs
}

// CacheDesc is one cache and the CPUs that share it.
type CacheDesc struct {
	Level, Line, Ways int
	Type, Size        string
	CPUs              hw.CPUs
}

// Group is a set of events that count together.
type Group struct {
	Name            string
	Leader, Members int
}

// described is the name of an event as EVENT_DESC gives it.
type described struct {
	name string
	ids  []uint64
}

// readFeatures reads the sections behind the data. A feature that cannot be
// read costs what it says, not the samples.
func (f *file) readFeatures(bitmap []byte) {
	if f.data.size == 0 {
		return // perf writes them after the data; it did not get there
	}
	at := f.data.off + f.data.size
	for id := range featMax {
		if f.u64(bitmap[id/64*8:])>>(id%64)&1 == 0 {
			continue
		}
		entry, err := f.load(section{at, 16}, "the list of features")
		if err != nil {
			f.warnf("features from %d on cannot be read: %v", id, err)
			return
		}
		at += 16
		body, err := f.load(section{f.u64(entry), f.u64(entry[8:])}, fmt.Sprintf("feature %d", id))
		if err == nil {
			err = f.feature(id, body)
		}
		if err != nil {
			f.warnf("feature %d cannot be read and is left out: %v", id, err)
		}
	}
	f.nameEvents()
}

// feature decodes one section.
func (f *file) feature(id int, body []byte) error {
	c := cursor{order: f.order, b: body}
	t := &f.features
	switch id {
	case featHostname:
		t.Hostname = c.text()
	case featOSRelease:
		t.OSRelease = c.text()
	case featVersion:
		t.Version = c.text()
	case featArch:
		t.Arch = c.text()
	case featCPUDesc:
		t.CPUDesc = c.text()
	case featCPUID:
		t.CPUID = c.text()
	case featNRCPUs:
		t.Available, t.Online = int(c.u32()), int(c.u32())
	case featTotalMem:
		t.TotalKiB = c.u64()
	case featCmdline:
		t.Cmdline = texts(&c, maxArguments)
	case featPMUMappings:
		t.PMUs = pmus(&c)
	case featBuildID:
		return t.buildIDs(&c)
	case featEventDesc:
		t.described = f.eventDesc(&c)
	case featCPUTopology:
		return t.cpuTopology(&c)
	case featNUMA:
		return t.numa(&c)
	case featCache:
		return t.caches(&c)
	case featGroupDesc:
		for range c.count(uint64(c.u32()), 12) {
			t.Groups = append(t.Groups, Group{c.text(), int(c.u32()), int(c.u32())})
		}
	}
	return c.err(fmt.Sprintf("feature %d", id))
}

func texts(c *cursor, most int) []string {
	n := c.count(uint64(c.u32()), 4)
	var out []string
	for range min(n, most) {
		out = append(out, c.text())
	}
	return out
}

func pmus(c *cursor) map[uint32]string {
	out := map[uint32]string{}
	for range min(c.count(uint64(c.u32()), 8), maxListed) {
		typ := c.u32()
		out[typ] = c.text()
	}
	return out
}

// buildIDs reads records of type, misc, size, pid, 20 bytes of id with their
// number, and a file name.
func (t *Features) buildIDs(c *cursor) error {
	t.BuildIDs = map[string]string{}
	for len(c.b) >= recordHeader {
		size := int(c.order.u16(c.b[6:]))
		if size < buildIDRecord || size > len(c.b) {
			return fmt.Errorf("build id record of %d bytes, %d left: %w", size, len(c.b), errDamaged)
		}
		t.addBuildID(c.order, c.bytes(uint64(size)))
	}
	return nil
}

const buildIDRecord = recordHeader + 4 + 24

func (t *Features) addBuildID(o order, b []byte) {
	if len(b) < buildIDRecord {
		return
	}
	if t.BuildIDs == nil {
		t.BuildIDs = map[string]string{}
	}
	n := 20
	if o.u16(b[4:])&(1<<15) != 0 {
		n = min(int(b[32]), 20)
	}
	t.BuildIDs[cstring(b[buildIDRecord:])] = hex.EncodeToString(b[12 : 12+n])
}

func (f *file) eventDesc(c *cursor) []described {
	n, size := uint64(c.u32()), uint64(c.u32())
	var out []described
	for range c.count(n, int(min(size, maxAttrSize))+eventDescMinimum-minAttrSize) {
		c.bytes(size)
		ids := c.u32()
		d := described{name: c.text()}
		for range c.count(uint64(ids), 8) {
			d.ids = append(d.ids, c.u64())
		}
		out = append(out, d)
	}
	return out
}

func (t *Features) cpuTopology(c *cursor) (err error) {
	if t.Packages, err = t.cpuSets(c); err != nil {
		return err
	}
	if t.Cores, err = t.cpuSets(c); err != nil {
		return err
	}
	// Per CPU its core and package, which the lists above say already; then,
	// since perf 5.2, the dies.
	cpus := t.Available
	if cpus == 0 || uint64(cpus)*8 > uint64(len(c.b)) {
		return nil
	}
	c.bytes(uint64(cpus) * 8)
	if len(c.b) > 4 {
		t.Dies, err = t.cpuSets(c)
	}
	return err
}

func (t *Features) cpuSets(c *cursor) ([]hw.CPUs, error) {
	var out []hw.CPUs
	for _, text := range texts(c, maxListed) {
		set, err := t.cpus(text)
		if err != nil {
			return nil, fmt.Errorf("list of CPUs: %w", err)
		}
		out = append(out, set)
	}
	return out, c.err("the CPU topology")
}

func (t *Features) numa(c *cursor) error {
	t.Nodes = nil
	for range min(c.count(uint64(c.u32()), 24), maxListed) {
		n := Node{Number: int(c.u32()), TotalKiB: c.u64()}
		c.u64() // free
		text := c.text()
		if c.short {
			break
		}
		var err error
		if n.CPUs, err = t.cpus(text); text != "" && err != nil {
			return fmt.Errorf("memory node %d: %w", n.Number, err)
		}
		t.Nodes = append(t.Nodes, n)
	}
	return c.err("the memory topology")
}

func (t *Features) caches(c *cursor) error {
	c.u32() // version
	t.Caches = nil
	for range min(c.count(uint64(c.u32()), 28), maxListed) {
		level, line := int(c.u32()), int(c.u32())
		c.u32() // sets
		d := CacheDesc{Level: level, Line: line, Ways: int(c.u32()), Type: c.text(), Size: c.text()}
		set, err := t.cpus(c.text())
		if err != nil {
			return fmt.Errorf("cache of level %d: %w", level, err)
		}
		d.CPUs = set
		t.Caches = append(t.Caches, d)
	}
	return c.err("the list of caches")
}
