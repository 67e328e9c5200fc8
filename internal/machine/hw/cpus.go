package hw

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/base/term"
)

// Sizes beyond which a description is refused rather than believed. Linux
// itself stops at 8 192 CPUs; the index may have gaps.
const (
	MaxCPUs     = 1 << 16 // CPUs of one machine
	MaxCPUIndex = 1 << 20 // largest OS index, exclusive
	MaxNodes    = 1 << 10 // memory nodes of one machine
	maxMembers  = 1 << 24 // CPUs of all objects together
)

// CPUs is a set of CPUs by OS index, ascending and without duplicates.
type CPUs []int

// ParseCPUs reads the list form of the Linux kernel, such as "0-3,8,10-12".
func ParseCPUs(s string) (CPUs, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return nil, nil
	}
	var set CPUs
	for part := range strings.SplitSeq(s, ",") {
		lo, hi, err := parseRange(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("CPU list %q: %w", term.ClipEnd(s, 41), err)
		}
		if len(set)+hi-lo+1 > MaxCPUs {
			return nil, fmt.Errorf("CPU list %q: more than %d CPUs", term.ClipEnd(s, 41), MaxCPUs)
		}
		for cpu := lo; cpu <= hi; cpu++ {
			set = append(set, cpu)
		}
	}
	return NewCPUs(set), nil
}

func parseRange(part string) (lo, hi int, err error) {
	first, last, isRange := strings.Cut(part, "-")
	if lo, err = parseIndex(first); err != nil {
		return 0, 0, err
	}
	if !isRange {
		return lo, lo, nil
	}
	if hi, err = parseIndex(last); err != nil {
		return 0, 0, err
	}
	if hi < lo {
		return 0, 0, fmt.Errorf("%q runs backwards", part)
	}
	return lo, hi, nil
}

func parseIndex(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%q is not a CPU number", term.ClipEnd(s, 41))
	}
	if n >= MaxCPUIndex {
		return 0, fmt.Errorf("CPU number %d is larger than any machine has (limit %d)", n, MaxCPUIndex)
	}
	return int(n), nil
}

// ParseBitmap reads a set in hwloc's form: 32-bit words in hexadecimal, most
// significant first, separated by commas; an empty word is 0. The endless sets
// hwloc can also write ("0xf...f") are refused: no machine has them.
func ParseBitmap(s string) (CPUs, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return nil, nil
	}
	words := strings.Count(s, ",") + 1
	if words > MaxCPUIndex/32 {
		return nil, fmt.Errorf("bitmap of %d words: no machine has CPU numbers above %d", words, MaxCPUIndex)
	}
	var set CPUs
	at := words
	for word := range strings.SplitSeq(s, ",") {
		at--
		hex := strings.TrimPrefix(strings.TrimSpace(word), "0x")
		if hex == "" {
			continue
		}
		bits, err := strconv.ParseUint(hex, 16, 32)
		if err != nil {
			return nil, fmt.Errorf("bitmap %q: %q is not a 32-bit word", term.ClipEnd(s, 41), term.ClipEnd(word, 41))
		}
		for b := 31; b >= 0; b-- {
			if bits>>b&1 != 0 {
				set = append(set, at*32+b)
			}
		}
		if len(set) > MaxCPUs {
			return nil, fmt.Errorf("bitmap with more than %d CPUs", MaxCPUs)
		}
	}
	slices.Reverse(set)
	return set, nil
}

// NewCPUs sorts the indices and removes duplicates; it may reuse the slice.
func NewCPUs(indices []int) CPUs {
	slices.Sort(indices)
	return slices.Compact(indices)
}

// Has reports whether the set contains the CPU.
func (c CPUs) Has(cpu int) bool {
	_, ok := slices.BinarySearch(c, cpu)
	return ok
}

// String writes the set as ParseCPUs reads it.
func (c CPUs) String() string {
	var b strings.Builder
	for i := 0; i < len(c); {
		j := i
		for j+1 < len(c) && c[j+1] == c[j]+1 {
			j++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(c[i]))
		if j > i {
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(c[j]))
		}
		i = j + 1
	}
	return b.String()
}
