package perfdata

import (
	"encoding/hex"
	"fmt"

	"github.com/isobath/isobath/internal/code/perfevent"
	"github.com/isobath/isobath/internal/machine/hw"
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
	eventDescMinimum = 8 + perfevent.AttrSize0
)

// fileFeatures is what a file says about the machine and the recording.
type fileFeatures struct {
	Hostname, OSRelease, Version, Arch string
	CPUDesc, CPUID                     string
	TotalKiB                           uint64
	Available, Online                  int
	Cmdline                            []string
	PMUs                               map[uint32]string
	BuildIDs                           map[string]string // file name → hexadecimal id
	Packages, Cores, Dies              []hw.CPUs
	Nodes                              []memoryNode
	Caches                             []cacheDesc
	Groups                             []Group
	described                          []described
	members                            int // CPUs in all lists so far
}

// maxMembers bounds the CPUs of all lists together: a list of a few bytes can
// name 65 536, and there may be as many lists.
const maxMembers = 1 << 22

// cpus reads a list of CPUs.
func (t *fileFeatures) cpus(text string) (hw.CPUs, error) {
	set, err := hw.ParseCPUs(text)
	if err != nil {
		return nil, err
	}
	if t.members += len(set); t.members > maxMembers {
		return nil, fmt.Errorf("the lists name more than %d CPUs together: %w", maxMembers, errDamaged)
	}
	return set, nil
}

// memoryNode is a memory node.
type memoryNode struct {
	Number   int
	TotalKiB uint64
	CPUs     hw.CPUs
}

// cacheDesc is one cache and the CPUs that share it.
type cacheDesc struct {
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
		if f.U64(bitmap[id/64*8:])>>(id%64)&1 == 0 {
			continue
		}
		entry, err := f.load(section{at, 16}, "the list of features")
		if err != nil {
			f.warnf("features from %d on cannot be read: %v", id, err)
			return
		}
		at += 16
		body, err := f.load(section{f.U64(entry), f.U64(entry[8:])}, fmt.Sprintf("feature %d", id))
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
	c := perfevent.Cursor{Order: f.Order, B: body}
	t := &f.features
	switch id {
	case featHostname:
		t.Hostname = text(&c)
	case featOSRelease:
		t.OSRelease = text(&c)
	case featVersion:
		t.Version = text(&c)
	case featArch:
		t.Arch = text(&c)
	case featCPUDesc:
		t.CPUDesc = text(&c)
	case featCPUID:
		t.CPUID = text(&c)
	case featNRCPUs:
		t.Available, t.Online = int(c.U32()), int(c.U32())
	case featTotalMem:
		t.TotalKiB = c.U64()
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
		for range c.Count(uint64(c.U32()), 12) {
			t.Groups = append(t.Groups, Group{text(&c), int(c.U32()), int(c.U32())})
		}
	}
	return short(&c, fmt.Sprintf("feature %d", id))
}

func texts(c *perfevent.Cursor, most int) []string {
	n := c.Count(uint64(c.U32()), 4)
	var out []string
	for range min(n, most) {
		out = append(out, text(c))
	}
	return out
}

func pmus(c *perfevent.Cursor) map[uint32]string {
	out := map[uint32]string{}
	for range min(c.Count(uint64(c.U32()), 8), maxListed) {
		typ := c.U32()
		out[typ] = text(c)
	}
	return out
}

// buildIDs reads records of type, misc, size, pid, 20 bytes of id with their
// number, and a file name.
func (t *fileFeatures) buildIDs(c *perfevent.Cursor) error {
	t.BuildIDs = map[string]string{}
	for len(c.B) >= perfevent.HeaderSize {
		size := int(c.Order.U16(c.B[6:]))
		if size < buildIDRecord || size > len(c.B) {
			return fmt.Errorf("build id record of %d bytes, %d left: %w", size, len(c.B), errDamaged)
		}
		t.addBuildID(c.Order, c.Bytes(uint64(size)))
	}
	return nil
}

const buildIDRecord = perfevent.HeaderSize + 4 + 24

func (t *fileFeatures) addBuildID(o perfevent.Order, b []byte) {
	if len(b) < buildIDRecord {
		return
	}
	if t.BuildIDs == nil {
		t.BuildIDs = map[string]string{}
	}
	n := 20
	if o.U16(b[4:])&(1<<15) != 0 {
		n = min(int(b[32]), 20)
	}
	t.BuildIDs[perfevent.Text(b[buildIDRecord:])] = hex.EncodeToString(b[12 : 12+n])
}

func (f *file) eventDesc(c *perfevent.Cursor) []described {
	n, size := uint64(c.U32()), uint64(c.U32())
	var out []described
	for range c.Count(n, int(min(size, maxAttrSize))+eventDescMinimum-perfevent.AttrSize0) {
		c.Bytes(size)
		ids := c.U32()
		d := described{name: text(c)}
		for range c.Count(uint64(ids), 8) {
			d.ids = append(d.ids, c.U64())
		}
		out = append(out, d)
	}
	return out
}

func (t *fileFeatures) cpuTopology(c *perfevent.Cursor) (err error) {
	if t.Packages, err = t.cpuSets(c); err != nil {
		return err
	}
	if t.Cores, err = t.cpuSets(c); err != nil {
		return err
	}
	// Per CPU its core and package, which the lists above say already; then,
	// since perf 5.2, the dies.
	cpus := t.Available
	if cpus == 0 || uint64(cpus)*8 > uint64(len(c.B)) {
		return nil
	}
	c.Bytes(uint64(cpus) * 8)
	if len(c.B) > 4 {
		t.Dies, err = t.cpuSets(c)
	}
	return err
}

func (t *fileFeatures) cpuSets(c *perfevent.Cursor) ([]hw.CPUs, error) {
	var out []hw.CPUs
	for _, text := range texts(c, maxListed) {
		set, err := t.cpus(text)
		if err != nil {
			return nil, fmt.Errorf("list of CPUs: %w", err)
		}
		out = append(out, set)
	}
	return out, short(c, "the CPU topology")
}

func (t *fileFeatures) numa(c *perfevent.Cursor) error {
	t.Nodes = nil
	for range min(c.Count(uint64(c.U32()), 24), maxListed) {
		n := memoryNode{Number: int(c.U32()), TotalKiB: c.U64()}
		c.U64() // free
		text := text(c)
		if c.Short {
			break
		}
		var err error
		if n.CPUs, err = t.cpus(text); text != "" && err != nil {
			return fmt.Errorf("memory node %d: %w", n.Number, err)
		}
		t.Nodes = append(t.Nodes, n)
	}
	return short(c, "the memory topology")
}

func (t *fileFeatures) caches(c *perfevent.Cursor) error {
	c.U32() // version
	t.Caches = nil
	for range min(c.Count(uint64(c.U32()), 28), maxListed) {
		level, line := int(c.U32()), int(c.U32())
		c.U32() // sets
		d := cacheDesc{Level: level, Line: line, Ways: int(c.U32()), Type: text(c), Size: text(c)}
		set, err := t.cpus(text(c))
		if err != nil {
			return fmt.Errorf("cache of level %d: %w", level, err)
		}
		d.CPUs = set
		t.Caches = append(t.Caches, d)
	}
	return short(c, "the list of caches")
}
