// Package ctf reads traces in the Common Trace Format 1.8, as LTTng, barectf,
// Babeltrace and we write them: a folder with a description (metadata) and
// streams of events. Calls and messages become an OTF2 archive.
package ctf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/base/plainfile"
	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/formats/otf2"
)

// Format recognises and reads CTF 1.8.
var Format = foreign.Format{Name: "ctf", Kind: kind.Trace, Sniff: sniff, Trace: open}

const (
	metadataName  = "metadata"
	metadataMagic = 0x75D11D57 // of metadata in packets
	maxMetadata   = 64 << 20
	maxBelow      = 5 // LTTng has ust/uid/1000/64-bit below the name of a session
	maxFiles      = 1 << 16
)

var textBegin = []byte("/* CTF 1.8")

// sniff wants a folder with metadata in it or below, or the metadata itself.
func sniff(in *foreign.Input) bool {
	if !in.Dir() {
		return isMetadata(in.Head) && filepath.Base(in.Known()) == metadataName
	}
	_, err := findMetadata(in.Path)
	return err == nil
}

func isMetadata(head []byte) bool {
	if bytes.HasPrefix(head, textBegin) {
		return true
	}
	return len(head) >= 4 && (binary.LittleEndian.Uint32(head) == metadataMagic || binary.BigEndian.Uint32(head) == metadataMagic)
}

// findMetadata returns the folder of the first trace at or below a path.
func findMetadata(path string) (string, error) {
	found, seen := "", 0
	depth := strings.Count(filepath.Clean(path), string(filepath.Separator))
	err := filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if seen++; err != nil || seen > maxFiles {
			return fs.SkipAll
		}
		if d.IsDir() {
			if strings.Count(filepath.Clean(name), string(filepath.Separator))-depth > maxBelow {
				return fs.SkipDir
			}
			return nil
		}
		if d.Name() != metadataName || !d.Type().IsRegular() {
			return nil
		}
		f, err := plainfile.Open(name)
		if err != nil {
			return nil
		}
		defer f.Close()
		head := make([]byte, len(textBegin))
		if n, _ := f.Read(head); isMetadata(head[:n]) {
			found = filepath.Dir(name)
			return fs.SkipAll
		}
		return nil
	})
	if err == nil && found == "" {
		err = errors.New("no metadata of CTF 1.8")
	}
	return found, err
}

// open reads a trace and makes an archive of it.
func open(path string) (*otf2.Archive, error) {
	folder := filepath.Dir(path)
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if info.IsDir() {
		if folder, err = findMetadata(path); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	raw, err := readBounded(filepath.Join(folder, metadataName), maxMetadata)
	if err != nil {
		return nil, err
	}
	source, err := metadataText(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	d, err := parseDescription(source)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	r := newReader(d)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.Name() == metadataName || strings.HasPrefix(e.Name(), ".") || !e.Type().IsRegular() {
			continue
		}
		data, err := readBounded(filepath.Join(folder, e.Name()), 0)
		if err != nil {
			return nil, err
		}
		r.stream(e.Name(), data)
	}
	if len(r.threads) == 0 {
		return nil, fmt.Errorf("%s: the trace has no events that are calls or messages; %s", path, r.unknown())
	}
	return r.archive(path)
}

func readBounded(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if most > 0 && info.Size() > most {
		return nil, fmt.Errorf("%s: %d bytes of metadata; at most %d are read", path, info.Size(), most)
	}
	return plainfile.ReadFile(path, most)
}

// metadataText takes text out of its packets, if it is in some.
func metadataText(raw []byte) (string, error) {
	if bytes.HasPrefix(raw, textBegin) {
		return string(raw), nil
	}
	// magic, uuid, checksum, content and packet size in bits, three schemes and
	// the version: 37 bytes before the text.
	const head = 37
	var order binary.ByteOrder = binary.LittleEndian
	if len(raw) >= 4 && binary.BigEndian.Uint32(raw) == metadataMagic {
		order = binary.BigEndian
	}
	var out []byte
	for len(raw) > 0 {
		if len(raw) < head || order.Uint32(raw) != metadataMagic {
			return "", errors.New("metadata: a packet is damaged")
		}
		content, packet := uint64(order.Uint32(raw[24:]))/8, uint64(order.Uint32(raw[28:]))/8
		if content < head || packet < content || packet > uint64(len(raw)) {
			return "", fmt.Errorf("metadata: a packet of %d bytes, %d of them text, and %d are left", packet, content, len(raw))
		}
		if raw[32] != 0 {
			return "", errors.New("metadata: packed or encrypted")
		}
		out = append(out, raw[head:content]...)
		raw = raw[packet:]
	}
	return string(out), nil
}

// unknown says which events there were.
func (r *reader) unknown() string {
	if len(r.skipped) == 0 {
		return "it has no events at all"
	}
	var names []string
	for name := range r.skipped {
		names = append(names, name)
	}
	slices.Sort(names)
	return "it has " + strings.Join(names[:min(len(names), 6)], ", ")
}
