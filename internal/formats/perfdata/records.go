package perfdata

import (
	"github.com/isobath/isobath/internal/code/perfevent"
)

// Types of records that perf itself writes. Those of the kernel are in
// perfevent.
const (
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
	kernelPID        = ^uint32(0)
	eventUpdateName  = 2
	auxtraceArmSPE   = 4
)

// impossible reports whether no program writes records of a type: perf is far
// from a thousand, and simpleperf of Android begins again at 32768.
func impossible(typ uint32) bool { return typ >= 1000 && typ>>8 != 32768>>8 }

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

// fileNote is a record that is not a sample but says something about samples: what
// is mapped where, which threads there are, what was lost.
type fileNote struct {
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

// trailerOf reads the trailer of a record that is not a sample, and returns
// the body without it. All events of a file have the same trailer in practice;
// the first decides, or the one an identifier at the very end names.
func (f *file) trailerOf(body []byte) (own []byte, t perfevent.Trailer, cpu int32) {
	if len(f.events) == 0 {
		return body, t, -1
	}
	e := f.events[0]
	if e.SampleType&perfevent.SampleIdentifier != 0 && len(body) >= 8 {
		if i, ok := f.byID[f.U64(body[len(body)-8:])]; ok {
			e = f.events[i]
		}
	}
	own, t, ok := e.ParseTrailer(body)
	cpu = -1
	if ok && e.TrailerSize() > 0 && e.SampleType&perfevent.SampleCPU != 0 {
		cpu = int32(t.CPU)
	}
	return own, t, cpu
}

// note decodes a record into a note; false if it is of a kind nobody needs or
// shorter than its kind.
func (f *file) note(r record) (fileNote, bool) {
	own, trailer, cpu := f.trailerOf(r.b[perfevent.HeaderSize:])
	h := perfevent.Header{Type: r.typ, Misc: r.misc, Order: f.Order}
	n := fileNote{Time: trailer.Time, CPU: cpu, PID: trailer.PID, TID: trailer.TID, ID: trailer.ID}
	ok := true
	switch r.typ {
	case perfevent.RecordMmap, perfevent.RecordMmap2:
		ok = f.mapping(h, own, &n)
	case perfevent.RecordComm:
		var c perfevent.Comm
		c, ok = perfevent.ParseComm(h, own)
		n.Kind, n.PID, n.TID, n.Exec, n.Name = Comm, c.PID, c.TID, c.Exec, f.shared(c.Name)
	case perfevent.RecordFork, perfevent.RecordExit:
		n.Kind = Fork
		if r.typ == perfevent.RecordExit {
			n.Kind = Exit
		}
		var t perfevent.Task
		t, ok = perfevent.ParseTask(h, own)
		// Its own time would put it after mappings that have none, in files of
		// old perfs: without times what counts is the order of the file.
		n.PID, n.PPID, n.TID, n.PTID = t.PID, t.PPID, t.TID, t.PTID
	case perfevent.RecordLost, perfevent.RecordLostSamples:
		n.Kind = Lost
		var id uint64
		if n.N, id, ok = perfevent.ParseLost(h, own); id != 0 {
			n.ID = id
		}
	case perfevent.RecordThrottle, perfevent.RecordUnthrottle:
		n.Kind = Throttle
		if r.typ == perfevent.RecordUnthrottle {
			n.Kind = Unthrottle
		}
		c := perfevent.Cursor{Order: f.Order, B: own}
		n.Time, n.ID, ok = c.U64(), c.U64(), !c.Short
	case perfevent.RecordAux:
		var a perfevent.Aux
		a, ok = perfevent.ParseAux(h, own)
		n.Kind, n.N = AuxLost, a.Size
		ok = ok && a.Flags&(perfevent.AuxTruncated|perfevent.AuxPartial) != 0
	case perfevent.RecordSwitch, perfevent.RecordSwitchCPUWide:
		n.Kind, n.Out = Switch, r.misc&perfevent.MiscSwitchOut != 0
	case perfevent.RecordItraceStart:
		c := perfevent.Cursor{Order: f.Order, B: own}
		n.Kind, n.PID, n.TID, ok = Switch, c.U32(), c.U32(), !c.Short
	default:
		ok = false
	}
	return n, ok
}

// mapping decodes MMAP and MMAP2.
func (f *file) mapping(h perfevent.Header, own []byte, n *fileNote) bool {
	m, ok := perfevent.ParseMapping(h, own)
	n.Kind, n.PID, n.TID = Map, m.PID, m.TID
	n.Start, n.Len, n.Offset = m.Start, m.Len, m.Offset
	n.Data, n.Prot, n.Two, n.BuildID = m.Data, m.Prot, h.Type == perfevent.RecordMmap2, string(m.BuildID)
	n.Kernel = h.Misc&perfevent.MiscCPUModeMask == perfevent.MiscKernel || n.PID == kernelPID
	n.Name = f.shared(m.Name)
	return ok
}

// shared returns a text of a record. Files and commands repeat, so each is kept
// once.
func (f *file) shared(name string) string {
	if kept, ok := f.texts[name]; ok {
		return kept
	}
	f.texts[name] = name
	return name
}
