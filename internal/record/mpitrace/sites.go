package mpitrace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/formats/otf2"
	"github.com/isobath/isobath/internal/record/target"
)

// callSites are the places a process called MPI from: return addresses by
// number, and what they mean.
type callSites struct {
	addresses []uint64
	frames    []symbol.Frame // parallel; empty where nothing is known
	contexts  []*otf2.AttributeValue
}

// add notes an address; numbers count from 1.
func (s *callSites) add(r *record) {
	if int(r.a) == len(s.addresses)+1 {
		s.addresses = append(s.addresses, r.len)
	}
}

// context is what goes with the entry of a call from a site, nil if nothing is
// known of it.
func (s *callSites) context(site uint16) *otf2.AttributeValue {
	if site == 0 || int(site) > len(s.contexts) {
		return nil
	}
	return s.contexts[site-1]
}

// maxMaps bounds the text of mappings that is read.
const maxMaps = 16 << 20

// nameSites finds functions and lines of the addresses. What cannot be named
// costs names, not the recording.
func (c *converter) nameSites(dir string) error {
	files := &symbol.Files{}
	defer files.Close()
	var failed error
	for i := range c.sites {
		s := &c.sites[i]
		s.frames = make([]symbol.Frame, len(s.addresses))
		if len(s.addresses) == 0 {
			continue
		}
		path := filepath.Join(dir, fmt.Sprintf("maps.%d", c.files[i].rank))
		if info, err := os.Stat(path); err != nil || info.Size() > maxMaps {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		modules := target.ParseMaps(text)
		for k, address := range s.addresses {
			frame, err := locate(files, modules, address)
			if err != nil && failed == nil {
				failed = err
			}
			s.frames[k] = frame
		}
	}
	if failed != nil && !errors.Is(failed, fs.ErrNotExist) {
		c.damaged = append(c.damaged, fmt.Sprintf("some calls have no line: %v", failed))
	}
	return nil
}

// locate names the call that returns to an address: the instruction before it.
func locate(files *symbol.Files, modules []target.Module, address uint64) (symbol.Frame, error) {
	for _, m := range modules {
		if address <= m.Start || address > m.End {
			continue
		}
		b, err := files.Open(m.Path, "")
		if err != nil {
			return symbol.Frame{}, err
		}
		bias, ok := b.Bias(&symbol.Mapping{Start: m.Start, End: m.End, Offset: m.Offset, Path: m.Path, Exec: true})
		if !ok {
			return symbol.Frame{}, nil
		}
		at := b.Locate(address - 1 - bias)
		return at.Inner(), nil
	}
	return symbol.Frame{}, nil
}

const (
	siteAttribute   = "isobath::call site"
	typeContext     = 21 // of an attribute: a calling context
	paradigmProgram = 2  // found in the debug information: the compiler's
)

// defineSites writes functions and places as calling contexts. Ranks share them.
func (c *converter) defineSites() {
	id, defined := uint32(0), false
	regions := map[string]uint32{}
	contexts := map[symbol.Frame]uint32{}
	for i := range c.sites {
		s := &c.sites[i]
		s.contexts = make([]*otf2.AttributeValue, len(s.addresses))
		for k, f := range s.frames {
			if f.Function == "" {
				continue
			}
			if !defined {
				id, defined = c.out.Attribute(siteAttribute, "the function and the line that called MPI", typeContext), true
			}
			context, ok := contexts[f]
			if !ok {
				context = c.defineSite(f, regions)
				contexts[f] = context
			}
			s.contexts[k] = &otf2.AttributeValue{ID: id, Value: otf2.Value{Type: typeContext, Bits: uint64(context)}}
		}
	}
}

func (c *converter) defineSite(f symbol.Frame, regions map[string]uint32) uint32 {
	key := f.Function + "\x00" + f.File
	region, ok := regions[key]
	if !ok {
		region = c.out.Region(otf2.RegionInfo{Name: f.Function, File: f.File, Role: roleFunction, Paradigm: paradigmProgram})
		regions[key] = region
	}
	source := otf2.None
	if f.File != "" && f.Line > 0 {
		source = c.out.SourceLocation(f.File, uint32(f.Line))
	}
	return c.out.Context(region, source, otf2.None)
}
