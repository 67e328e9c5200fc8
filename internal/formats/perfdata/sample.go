package perfdata

import "github.com/isobath/isobath/internal/code/perfevent"

// eventAttr is an attr with what the file says about it.
type eventAttr struct {
	perfevent.Attr
	Name string
	IDs  []uint64
	// PMU is the name of the device the attr's type stands for, if the file
	// lists devices.
	PMU string

	kind  sampleKind
	extra uint64 // fields its samples have from elsewhere, as bits of SampleType
}

// decodedSample is one decoded sample. Its slices point into the record and are valid
// until the next one is read.
type decodedSample struct {
	perfevent.Sample
	Event int32  // index of file.events
	Mode  uint8  // kernel, user …: the low bits of misc
	Type  uint64 // the fields it has, as bits of SampleType
}

// fault says why a sample could not be decoded.
type fault uint8

const (
	faultNone fault = iota
	faultEvent
	faultSize
)

// eventOf finds the event of a sample record by its id.
func (f *file) eventOf(b []byte) int32 {
	if len(f.events) == 1 {
		return 0
	}
	at := f.events[0].IDOffset()
	if at < 0 {
		return 0
	}
	if perfevent.HeaderSize+at+8 > len(b) {
		return -1
	}
	id := f.U64(b[perfevent.HeaderSize+at:])
	if id == 0 {
		return 0
	}
	near := &f.recent[id%uint64(len(f.recent))]
	if near.id != id {
		i, ok := f.byID[id]
		if !ok {
			return -1
		}
		*near = recentID{id, i}
	}
	return near.event
}

// recentID remembers the event of an id; id 0 is none.
type recentID struct {
	id    uint64
	event int32
}

// sample decodes a sample record into s.
func (f *file) sample(r record, s *decodedSample) fault {
	if len(f.events) == 0 {
		return faultEvent
	}
	i := f.eventOf(r.b)
	if i < 0 {
		return faultEvent
	}
	attr := &f.events[i].Attr
	s.Event, s.Mode, s.Type = i, uint8(r.misc&perfevent.MiscCPUModeMask), attr.SampleType
	if attr.Decode(r.b[perfevent.HeaderSize:], &s.Sample) != nil {
		return faultSize
	}
	return faultNone
}
