package symbol

import (
	"bytes"
	"debug/dwarf"
	"encoding/hex"
	"fmt"
	"path/filepath"
)

// place is an entry: where it is, and in which debug information.
type place struct {
	d  *debugInfo
	at dwarf.Offset
}

// entry reads the entry; nil if it cannot be read.
func (p place) entry() *dwarf.Entry {
	if p.d == nil {
		return nil
	}
	r := p.d.data.Reader()
	r.Seek(p.at)
	e, err := r.Next()
	if err != nil {
		return nil
	}
	return e
}

// name returns the readable name of the entry.
func (p place) name() string {
	if p.d == nil {
		return ""
	}
	return p.d.name(p.at)
}

// follow returns the entry that an attribute refers to: in the same debug
// information, in a type unit, or in the file that several share.
func (d *debugInfo) follow(e *dwarf.Entry, a dwarf.Attr) (place, bool) {
	f := e.AttrField(a)
	if f == nil {
		return place{}, false
	}
	switch v := f.Val.(type) {
	case dwarf.Offset:
		return place{d, v}, true
	case uint64: // the signature of a type
		p, ok := d.types[v]
		return p, ok
	case int64:
		if f.Class == dwarf.ClassReferenceAlt && d.alternate != nil && v >= 0 && v <= 1<<32-1 {
			return place{d.alternate, dwarf.Offset(v)}, true
		}
	}
	return place{}, false
}

// text returns an attribute that is a string, which may be in the file that
// several share.
func (d *debugInfo) text(e *dwarf.Entry, a dwarf.Attr) string {
	f := e.AttrField(a)
	if f == nil {
		return ""
	}
	var at int64
	switch v := f.Val.(type) {
	case string:
		return v
	case int64:
		if f.Class != dwarf.ClassStringAlt {
			return ""
		}
		at = v
	case uint32: // DW_FORM_strp_sup
		at = int64(v)
	default:
		return ""
	}
	if d.alternate == nil || at < 0 || at >= int64(len(d.alternate.strings)) {
		return ""
	}
	s := d.alternate.strings[at:]
	if n := bytes.IndexByte(s[:min(len(s), maxName)], 0); n >= 0 {
		return string(s[:n])
	}
	return ""
}

// alternateLink returns the file that dwz moved to what several files have in
// common, and its build id.
func (im *image) alternateLink() (name, id string, ok bool) {
	data, err := im.section(".gnu_debugaltlink")
	if err != nil {
		return "", "", false
	}
	end := bytes.IndexByte(data, 0)
	if end <= 0 || len(data)-end-1 > 64 {
		return "", "", false
	}
	return string(data[:end]), hex.EncodeToString(data[end+1:]), true
}

// openAlternate opens the file of alternateLink, which is named relative to the
// file that names it, or found by its build id; nil if there is none.
func (f *Files) openAlternate(im *image, path string) (*image, error) {
	name, id, ok := im.alternateLink()
	if !ok {
		return nil, nil
	}
	candidates := []string{name}
	if !filepath.IsAbs(name) {
		candidates = []string{filepath.Join(filepath.Dir(path), name)}
	}
	for _, dir := range f.idFolders(id) {
		candidates = append(candidates, dir+".debug")
	}
	for _, root := range f.Roots {
		candidates = append(candidates, filepath.Join(root, filepath.Clean("/"+candidates[0])))
	}
	for _, dir := range f.debugFolders() {
		candidates = append(candidates, filepath.Join(dir, ".dwz", filepath.Base(name)))
	}
	for _, c := range candidates {
		shared, err := openImage(c)
		if err != nil {
			continue
		}
		if shared.buildID == "" || sameID(shared.buildID, id) {
			return shared, nil
		}
		shared.close()
	}
	return nil, fmt.Errorf("names that several files share are in %s, which is not there (build id %s)", name, id)
}
