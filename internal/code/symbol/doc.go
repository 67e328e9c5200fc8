// Package symbol says what the addresses of a recording mean: the function,
// source line and inlined calls of an instruction, and the data object, field
// and element of an access.
//
// Space remembers which file was mapped where and when, Files finds those files
// and their debug information, Binary answers for one of them, Objects knows
// what memory holds, and Resolver turns columns of addresses into columns of
// names. All of it reads files of unknown origin: sizes are checked before
// anything is allocated, and damage costs names, never the samples.
package symbol

// Frame is one function in the chain of calls at an address.
type Frame struct {
	Function string // demangled; empty if unknown
	File     string // as the compiler saw it; empty if unknown
	Line     int    // 0 if unknown
}

// CallSite is where a function is called that was inlined there.
type CallSite struct {
	File         string
	Line, Column int // 0 if unknown
}

// Location is what the code at an address belongs to.
type Location struct {
	// Frames has the innermost function first; those before the last were
	// inlined into the one after them. It is never empty for an address in a
	// known function.
	Frames []Frame
	// Start is the first address of the function that was not inlined, 0 if
	// unknown.
	Start uint64
}

// Inner returns the innermost frame, which is what the line table names.
func (l *Location) Inner() Frame {
	if len(l.Frames) == 0 {
		return Frame{}
	}
	return l.Frames[0]
}

// Outer returns the function that the code is part of after inlining.
func (l *Location) Outer() Frame {
	if len(l.Frames) == 0 {
		return Frame{}
	}
	return l.Frames[len(l.Frames)-1]
}
