package perfdata

import "bytes"

// Types of records: PERF_RECORD_*. Those from 64 on are written by perf, the
// others by the kernel.
const (
	recMmap          = 1
	recLost          = 2
	recComm          = 3
	recExit          = 4
	recThrottle      = 5
	recUnthrottle    = 6
	recFork          = 7
	recRead          = 8
	recSample        = 9
	recMmap2         = 10
	recAux           = 11
	recItraceStart   = 12
	recLostSamples   = 13
	recSwitch        = 14
	recSwitchCPU     = 15
	recAttr          = 64
	recTracingData   = 66
	recBuildID       = 67
	recFinishedRound = 68
	recAuxtraceInfo  = 70
	recAuxtrace      = 71
	recEventUpdate   = 78
	recTimeConv      = 79
	recFeature       = 80
	recCompressed    = 81
	recCompressed2   = 83
	firstOwnRecord   = 64
	impossibleRecord = 1000 // no perf has written a type this large
	recordHeader     = 8
	miscSwitchOut    = 1 << 13
	miscDataMapping  = 1 << 13
	miscExec         = 1 << 13
	miscBuildID      = 1 << 14
	miscModeMask     = 7
	modeKernel       = 1
	modeUser         = 2
	modeHypervisor   = 3
	modeGuestKernel  = 4
	modeGuestUser    = 5
	kernelPID        = ^uint32(0)
	auxFlagTruncated = 1
	auxFlagPartial   = 4
	eventUpdateName  = 2
	auxtraceArmSPE   = 4
)

// record is one record of the file: its header and the whole of its bytes.
type record struct {
	typ  uint32
	misc uint16
	// b is the record from its header on, valid until the next one is read.
	b  []byte
	at int64 // offset in the file, for messages
}

// Kind says what a note is about.
type Kind uint8

// The notes a file keeps beside its samples.
const (
	Map Kind = iota
	Comm
	Fork
	Exit
	Lost
	Throttle
	Unthrottle
	Switch
	AuxLost
)

// Note is a record that is not a sample but says something about samples: what
// is mapped where, which threads there are, what was lost.
type Note struct {
	Kind Kind
	Time uint64 // 0 for what was there before the recording began
	CPU  int32  // -1 if not said

	PID, TID   uint32
	PPID, PTID uint32 // of a Fork: who forked

	// Of a Map.
	Start, Len, Offset uint64
	Prot               uint32
	Data               bool // mapped without execute permission
	Two                bool // from an MMAP2 record, which says Prot
	Kernel             bool
	BuildID            string // bytes; empty if not said
	Name               string // of a Map: the file; of a Comm: the command

	Exec bool   // Comm: the process began another program
	Out  bool   // Switch: the thread left the CPU
	N    uint64 // Lost: how many records
	ID   uint64 // Lost, Throttle: id of the event
}

// identity is the trailer that sample_id_all appends.
type identity struct {
	time     uint64
	id       uint64
	pid, tid uint32
	cpu      int32
}

// trailerOf reads the trailer of a record that is not a sample, and returns
// the body without it. All events of a file have the same trailer in practice;
// the first decides, or the one an identifier at the very end names.
func (f *file) trailerOf(b []byte) (identity, []byte) {
	out := identity{cpu: -1}
	if len(f.events) == 0 {
		return out, b
	}
	e := f.events[0]
	if e.SampleType&sampleIdentifier != 0 && len(b) >= recordHeader+8 {
		if i, ok := f.byID[f.u64(b[len(b)-8:])]; ok {
			e = f.events[i]
		}
	}
	size := e.trailer()
	if size == 0 || size > len(b)-recordHeader {
		return out, b
	}
	c := cursor{order: f.order, b: b[len(b)-size:]}
	st := e.SampleType
	if st&sampleTID != 0 {
		out.pid, out.tid = c.u32(), c.u32()
	}
	if st&sampleTime != 0 {
		out.time = c.u64()
	}
	if st&sampleID != 0 {
		out.id = c.u64()
	}
	if st&sampleStreamID != 0 {
		c.u64()
	}
	if st&sampleCPU != 0 {
		out.cpu = int32(c.u32())
		c.u32()
	}
	if st&sampleIdentifier != 0 {
		out.id = c.u64()
	}
	return out, b[:len(b)-size]
}

// note decodes a record into a note; false if it is of a kind nobody needs or
// shorter than its kind.
func (f *file) note(r record) (Note, bool) {
	id, b := f.trailerOf(r.b)
	c := cursor{order: f.order, b: b[recordHeader:]}
	n := Note{Time: id.time, CPU: id.cpu, PID: id.pid, TID: id.tid, ID: id.id}
	switch r.typ {
	case recMmap, recMmap2:
		f.mapping(r, &c, &n)
	case recComm:
		n.Kind, n.PID, n.TID, n.Exec = Comm, c.u32(), c.u32(), r.misc&miscExec != 0
		n.Name = f.shared(c.b)
	case recFork, recExit:
		n.Kind = Fork
		if r.typ == recExit {
			n.Kind = Exit
		}
		n.PID, n.PPID, n.TID, n.PTID, n.Time = c.u32(), c.u32(), c.u32(), c.u32(), c.u64()
	case recLost:
		n.Kind, n.ID, n.N = Lost, c.u64(), c.u64()
	case recLostSamples:
		n.Kind, n.N = Lost, c.u64()
	case recThrottle, recUnthrottle:
		n.Kind = Throttle
		if r.typ == recUnthrottle {
			n.Kind = Unthrottle
		}
		n.Time, n.ID = c.u64(), c.u64()
	case recAux:
		c.u64()
		n.Kind, n.N = AuxLost, c.u64()
		if c.u64()&(auxFlagTruncated|auxFlagPartial) == 0 {
			return n, false
		}
	case recSwitch, recSwitchCPU:
		n.Kind, n.Out = Switch, r.misc&miscSwitchOut != 0
	case recItraceStart:
		n.Kind, n.PID, n.TID = Switch, c.u32(), c.u32()
	default:
		return n, false
	}
	return n, !c.short
}

// mapping decodes MMAP and MMAP2.
func (f *file) mapping(r record, c *cursor, n *Note) {
	n.Kind, n.PID, n.TID = Map, c.u32(), c.u32()
	n.Start, n.Len, n.Offset = c.u64(), c.u64(), c.u64()
	n.Data = r.misc&miscDataMapping != 0
	n.Kernel = r.misc&miscModeMask == modeKernel || n.PID == kernelPID
	if r.typ == recMmap2 {
		n.Two = true
		file := c.bytes(24)
		n.Prot = c.u32()
		c.u32()
		if r.misc&miscBuildID != 0 && len(file) == 24 {
			n.BuildID = string(file[4 : 4+min(int(file[0]), 20)])
		}
	}
	n.Name = f.shared(c.b)
}

// shared returns a text of a record. Files and commands repeat, so each is kept
// once.
func (f *file) shared(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	name, ok := f.texts[string(b)]
	if !ok {
		name = string(b)
		f.texts[name] = name
	}
	return name
}
