// Package pyframe reads the frames of a Python interpreter from outside, for the
// versions that cannot name their functions themselves (before 3.12).
//
// Where an interpreter keeps what is a matter of its minor version: see layouts.
// Everything is read from a thread that stands still, and the process is not
// trusted: types are compared with those of the interpreter's own binary, every
// walk and every length is bounded, and what contradicts itself gives no frames.
package pyframe

// layout says where an interpreter of a minor version keeps what, in bytes, on
// 64-bit machines with glibc. The numbers are offsetof() of the headers of CPython:
// Include/internal/pycore_runtime.h, pycore_interp.h, pycore_frame.h,
// Include/cpython/pystate.h, code.h and frameobject.h of the version.
type layout struct {
	// of _PyRuntimeState
	interpreters, current uint64
	// of PyInterpreterState; the next one is its first member
	threads uint64
	// of PyThreadState; previous and next state are its first members, the
	// interpreter the third
	thread, frame, cframe, rootCFrame, stateSize uint64
	// of the record that each run of the loop has on the C stack: PyCFrame
	cframePrevious, cframeCurrent uint64
	// of PyFrameObject, or _PyInterpreterFrame
	frameCode, frameBack, frameLast, frameEntry, frameOwner, frameSize uint64
	// of PyCodeObject; code is co_code, or where the code begins within the object
	codeLine, codeFile, codeName, codeLines, code, codeTraceable, codeSize uint64
	lines                                                                  func(table []byte, first, last int) int
}

// layouts are those of the minor versions of Python 3.
var layouts = map[int]*layout{
	9: {
		interpreters: 32, current: 568, threads: 8,
		thread: 176, frame: 24, stateSize: 184,
		frameBack: 24, frameCode: 32, frameLast: 104, frameSize: 112,
		codeLine: 40, code: 48, codeFile: 104, codeName: 112, codeLines: 120, codeSize: 128,
		lines: lineOfLnotab,
	},
	10: {
		interpreters: 32, current: 568, threads: 8,
		thread: 176, frame: 24, cframe: 48, stateSize: 184,
		cframePrevious: 8,
		frameBack:      24, frameCode: 32, frameLast: 96, frameSize: 104,
		codeLine: 40, code: 48, codeFile: 104, codeName: 112, codeLines: 120, codeSize: 128,
		lines: lineOfLinetable,
	},
	11: {
		interpreters: 40, current: 576, threads: 16,
		thread: 152, cframe: 56, rootCFrame: 336, stateSize: 344,
		cframeCurrent: 8, cframePrevious: 16,
		frameCode: 32, frameBack: 48, frameLast: 56, frameEntry: 68, frameOwner: 69, frameSize: 72,
		codeLine: 72, codeFile: 112, codeName: 128, codeLines: 136, codeTraceable: 168, code: 184, codeSize: 184,
		lines: lineOfLocations,
	},
}

// ownFrames reports whether frames are no objects: the loop then runs several.
func (l *layout) ownFrames() bool { return l.frameEntry != 0 }

// Members that are the same in all versions.
const (
	nextInterpreter  = 0
	previousState    = 0
	nextState        = 8
	stateInterpreter = 16
	objectType       = 8
	objectSize       = 16 // of those that have a size
	bytesData        = 32
	unicodeState     = 32
	unicodeASCII     = 48 // data of a string of ASCII
	unicodeCompact   = 72 // of another
)

// ownedByGenerator is a frame that is complete from its start.
const ownedByGenerator = 1

// unit is the size of an instruction of the bytecode.
const unit = 2
