package otf2

import (
	"errors"
	"fmt"
	"strconv"
)

// Anchor is the content of NAME.otf2, the file an archive is opened by.
type Anchor struct {
	AnchorFormat, TraceFormat   uint8
	Version                     [3]uint8
	EventChunk, DefinitionChunk uint64
	Locations, Definitions      uint64
	Machine, Creator, About     string
	Properties                  [][2]string
	TraceID                     uint64
	Damaged                     bool // the part that is not needed is missing
}

// ErrUnsupported marks an archive whose files are stored in a way this reader
// does not read.
var ErrUnsupported = errors.New("unsupported archive")

const (
	substratePOSIX  = 1
	substrateSION   = 2
	compressionNone = 1
)

const magic = "OTF2"

// isAnchor tells whether head, the first bytes of a file, begin an anchor.
func isAnchor(head []byte) bool {
	return len(head) >= 7 && head[0] == chunkHead && (head[1] == 0x42 || head[1] == 0x23) &&
		string(head[2:7]) == magic+"\x00"
}

func parseAnchor(file string, data []byte) (*Anchor, error) {
	if !isAnchor(data) {
		return nil, fmt.Errorf("%s: not an OTF2 anchor: it starts with % x, not with 03 42 or 03 23 and \"OTF2\"", file, data[:min(len(data), 7)])
	}
	c := &cursor{b: data, i: 7, end: len(data), big: data[1] == 0x23}
	a := &Anchor{}
	a.AnchorFormat, a.TraceFormat = uint8(c.byte()), uint8(c.byte())
	for i := range a.Version {
		a.Version[i] = uint8(c.byte())
	}
	a.EventChunk, a.DefinitionChunk = c.fixed(8), c.fixed(8)
	substrate, compression := c.byte(), c.byte()
	a.Locations, a.Definitions = c.fixed(8), c.fixed(8)
	if c.short || a.AnchorFormat == 0 {
		return nil, fmt.Errorf("%s: the anchor ends after %d bytes; was the run stopped before the archive was closed?", file, len(data))
	}
	switch {
	case substrate == substrateSION:
		return nil, fmt.Errorf("%s: the archive keeps its files in a SION container; unpack it first (otf2-config and siondump or sionsplit of SIONlib): %w", file, ErrUnsupported)
	case substrate != substratePOSIX:
		return nil, fmt.Errorf("%s: the archive has file substrate %d, which holds no readable event files: %w", file, substrate, ErrUnsupported)
	case compression != compressionNone:
		return nil, fmt.Errorf("%s: the archive is compressed with zlib, which OTF2 dropped in 3.0; rewrite it with an OTF2 2.x library or trace again without compression: %w", file, ErrUnsupported)
	}
	a.Machine, a.Creator, a.About = c.str(), c.str(), c.str()
	a.optional(c)
	return a, nil
}

// optional reads what later anchor formats added. Nothing in it is needed, so
// damage here only loses it.
func (a *Anchor) optional(c *cursor) {
	if a.AnchorFormat > 1 && !c.bad {
		n := int(min(c.fixed(4), uint64(c.left()/2)))
		for range n {
			name, value := c.str(), c.str()
			if c.bad {
				break
			}
			a.Properties = append(a.Properties, [2]string{name, value})
		}
		a.TraceID = c.fixed(8)
	}
	if a.AnchorFormat > 2 {
		c.fixed(8) // numbers of snapshots and thumbnails
	}
	// Later formats may have more here.
	a.Damaged = c.bad || c.short || a.AnchorFormat <= 3 && c.byte() != endOfFile
}

// unrecordedCalls is the property of an archive that says how many calls its
// recorder left out.
const unrecordedCalls = "ISOBATH::UNRECORDED_CALLS"

// Unrecorded is how many calls the recorder says it left out.
func (a *Anchor) Unrecorded() int {
	for _, p := range a.Properties {
		if n, err := strconv.Atoi(p[1]); p[0] == unrecordedCalls && err == nil && n > 0 {
			return n
		}
	}
	return 0
}
