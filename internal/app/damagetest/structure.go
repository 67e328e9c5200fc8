package damagetest

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"slices"
)

// The functions here know how a format is put together and keep it so: what they
// damage is found by the reader, which would otherwise stop at the first length
// that does not add up.

// mostly calls the function that knows the format, and now and then the one that
// does not.
func (s *source) mostly(b []byte, known func() []byte) []byte {
	if s.IntN(5) == 0 {
		return damageBytes(s, b)
	}
	return known()
}

// damagePerf changes records of a perf.data file and repairs the size of the
// data and the places of what follows it. See struct perf_file_header in
// tools/perf/util/header.h; a file from a pipe has a header of 16 bytes and no
// such sizes.
func damagePerf(s *source, b []byte) []byte {
	return s.mostly(b, func() []byte {
		const header = 104
		if len(b) < header || !bytes.HasPrefix(b, []byte("PERFILE2")) {
			return damageBytes(s, b)
		}
		if binary.LittleEndian.Uint64(b[8:]) == 16 {
			return append(bytes.Clone(b[:16]), damageRecords(s, bytes.Clone(b[16:]))...)
		}
		if s.IntN(4) == 0 { // header, attributes and features, lengths as they are
			s.word(b[:min(len(b), header+256)])
			return b
		}
		from, size := binary.LittleEndian.Uint64(b[40:]), binary.LittleEndian.Uint64(b[48:])
		if from > uint64(len(b)) || size > uint64(len(b))-from {
			return damageBytes(s, b)
		}
		data := damageRecords(s, bytes.Clone(b[from:from+size]))
		rest := bytes.Clone(b[from+size:])
		shift := uint64(len(data)) - size
		for i, at := 0, 0; i < 256 && at+16 <= len(rest); i++ { // one entry for every feature of the bitmap
			if b[72+i/8]&(1<<(i%8)) != 0 {
				binary.LittleEndian.PutUint64(rest[at:], binary.LittleEndian.Uint64(rest[at:])+shift)
				at += 16
			}
		}
		if s.IntN(4) == 0 && len(rest) > 0 {
			s.word(rest)
		}
		out := append(bytes.Clone(b[:from]), data...)
		binary.LittleEndian.PutUint64(out[48:], uint64(len(data)))
		return append(out, rest...)
	})
}

// damageRecords changes a sequence of records, each of which begins with type,
// flags and size.
func damageRecords(s *source, data []byte) []byte {
	var starts []int
	for at := 0; at+8 <= len(data); {
		size := int(binary.LittleEndian.Uint16(data[at+6:]))
		if size < 8 || at+size > len(data) {
			break
		}
		starts = append(starts, at)
		at += size
	}
	if len(starts) == 0 {
		return data
	}
	at := starts[s.IntN(len(starts))]
	size := int(binary.LittleEndian.Uint16(data[at+6:]))
	switch s.IntN(6) {
	case 0: // without it
		return slices.Delete(data, at, at+size)
	case 1: // elsewhere again
		return slices.Insert(data, starts[s.IntN(len(starts))], bytes.Clone(data[at:at+size])...)
	case 2: // shorter or longer, and its size says so
		record := bytes.Clone(data[at : at+size])
		if s.IntN(2) == 0 {
			record = record[:8+s.IntN(size-7)]
		} else {
			record = append(record, make([]byte, 8*s.IntN(64))...)
		}
		binary.LittleEndian.PutUint16(record[6:], uint16(len(record)))
		return slices.Replace(data, at, at+size, record...)
	case 3: // of another type
		binary.LittleEndian.PutUint32(data[at:], []uint32{uint32(s.IntN(24)), 64 + uint32(s.IntN(20)), s.Uint32()}[s.IntN(3)])
		return data
	}
	for range 1 + s.IntN(3) {
		s.word(data[at+8 : at+size])
	}
	return data
}

// damageOTF2 changes records of definition and event files, with their lengths.
// A file is a chunk header of 18 bytes and records: type, length, fields; a
// length of 255 is followed by one of 8 bytes. A type below 5 is no record.
func damageOTF2(s *source, b []byte) []byte {
	return s.mostly(b, func() []byte {
		const header = 18
		if len(b) < header+2 || b[0] != 3 {
			return damageText(s, b) // the anchor
		}
		var starts []int
		for at := header; at+2 <= len(b); {
			switch {
			case b[at] == 5: // a time stamp
				at += 9
				continue
			case b[at] < 5 || b[at+1] == 255 || at+2+int(b[at+1]) > len(b):
				at = len(b)
				continue
			}
			starts = append(starts, at)
			at += 2 + int(b[at+1])
		}
		if len(starts) == 0 {
			return damageBytes(s, b)
		}
		at := starts[s.IntN(len(starts))]
		size := 2 + int(b[at+1])
		switch s.IntN(5) {
		case 0:
			return slices.Delete(b, at, at+size)
		case 1:
			return slices.Insert(b, starts[s.IntN(len(starts))], bytes.Clone(b[at:at+size])...)
		case 2: // other fields, of the right length
			record := append([]byte{b[at], 0}, damageBytes(s, bytes.Clone(b[at+2:at+size]))...)
			record = record[:min(len(record), 2+254)]
			record[1] = byte(len(record) - 2)
			return slices.Replace(b, at, at+size, record...)
		case 3:
			b[at] = byte(s.IntN(80))
			return b
		}
		s.word(b[at+2 : at+size])
		return b
	})
}

// signatures begin the parts of an HDF5 file that say where others are. Our
// reader does not look at the checksums of these, so they need no repair.
var signatures = []string{"\x89HDF", "OHDR", "OCHK", "TREE", "SNOD", "HEAP", "GCOL", "FRHP", "FHDB", "FHIB", "BTHD", "BTIN", "BTLF", "FAHD", "FADB", "EAHD", "EAIB", "EADB"}

// damageHDF5 changes the parts of a file that describe it, or of the objects of
// the first version, which have no signature: they begin with 1, 0 and a small
// number of messages.
func damageHDF5(s *source, b []byte) []byte {
	return s.mostly(b, func() []byte {
		var starts []int
		for _, sign := range signatures {
			for at := 0; ; {
				i := bytes.Index(b[at:], []byte(sign))
				if i < 0 {
					break
				}
				starts = append(starts, at+i)
				at += i + len(sign)
			}
		}
		for at := 0; at+16 <= len(b); at += 8 {
			if b[at] == 1 && b[at+1] == 0 && b[at+2] > 0 && b[at+2] < 64 && b[at+3] == 0 && binary.LittleEndian.Uint32(b[at+4:]) == 1 {
				starts = append(starts, at)
			}
		}
		if len(starts) == 0 {
			return damageBytes(s, b)
		}
		at := starts[s.IntN(len(starts))]
		for range 1 + s.IntN(3) {
			s.word(b[at:min(len(b), at+16+s.IntN(512))])
		}
		return b
	})
}

// damageArrow changes the metadata of a message, or what a body says of itself;
// the frame around them stays right.
func damageArrow(s *source, b []byte) []byte {
	return s.mostly(b, func() []byte {
		var metas [][2]int
		for at := 8; at+8 <= len(b) && binary.LittleEndian.Uint32(b[at:]) == 0xffffffff; {
			size := int(binary.LittleEndian.Uint32(b[at+4:]))
			if size <= 0 || size > len(b)-at-8 {
				break
			}
			metas = append(metas, [2]int{at + 8, at + 8 + size})
			next := bytes.Index(b[at+8+size:], []byte{0xff, 0xff, 0xff, 0xff}) // after the body
			if next < 0 {
				break
			}
			at += 8 + size + next
		}
		if len(metas) == 0 {
			return damageBytes(s, b)
		}
		m := metas[s.IntN(len(metas))]
		for range 1 + s.IntN(4) {
			s.word(b[m[0]:m[1]])
		}
		return b
	})
}

// damageParquet changes the footer, whose length at the end is repaired, or the
// header of a page.
func damageParquet(s *source, b []byte) []byte {
	return s.mostly(b, func() []byte {
		if len(b) < 12 {
			return damageBytes(s, b)
		}
		size := int(binary.LittleEndian.Uint32(b[len(b)-8:]))
		if size < 1 || size > len(b)-12 {
			return damageBytes(s, b)
		}
		pages, footer := bytes.Clone(b[:len(b)-8-size]), bytes.Clone(b[len(b)-8-size:len(b)-8])
		if s.IntN(3) == 0 {
			pages = damageBytes(s, pages)
		} else {
			footer = damageBytes(s, footer)
		}
		out := append(pages, footer...)
		out = binary.LittleEndian.AppendUint32(out, uint32(len(footer)))
		return append(out, "PAR1"...)
	})
}

// damageXZ changes the header of the first block, whose check is repaired; without
// that nothing of it would be believed.
func damageXZ(s *source, b []byte) []byte {
	return s.mostly(b, func() []byte {
		const header = 12 // of the stream
		if len(b) < header+1 || len(b) < header+4*(int(b[header])+1) || b[header] == 0 {
			return damageBytes(s, b)
		}
		block := b[header : header+4*(int(b[header])+1)]
		for range 1 + s.IntN(2) {
			block[1+s.IntN(len(block)-5)] = byte(s.IntN(48))
		}
		binary.LittleEndian.PutUint32(block[len(block)-4:], crc32.ChecksumIEEE(block[:len(block)-4]))
		return b
	})
}
