package hdf5

import (
	"bytes"

	"github.com/isobath/isobath/internal/formats/foreign"
)

// Sniff returns a sniffer for HDF5 files that hold what test asks for. The
// decision needs the file itself: the names that tell the formats apart may
// lie anywhere in it.
func Sniff(test func(root *Object) bool) func(*foreign.Input) bool {
	return func(in *foreign.Input) bool {
		if in.Dir() || !bytes.Contains(in.Head, Magic) {
			return false
		}
		f, err := Open(in.Path)
		if err != nil {
			return false
		}
		defer f.Close()
		root, err := f.Root()
		return err == nil && test(root)
	}
}

// HasLink reports whether a group has a child of that name.
func (o *Object) HasLink(name string) bool {
	links, err := o.Links()
	if err != nil {
		return false
	}
	for _, l := range links {
		if l.Name == name {
			return true
		}
	}
	return false
}
