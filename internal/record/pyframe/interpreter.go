package pyframe

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strconv"

	"github.com/isobath/isobath/internal/code/symbol"
)

// Interpreter is a Python in a process: where its binary has what the walk needs,
// as addresses of the process.
type Interpreter struct {
	Minor   int
	layout  *layout
	runtime uint64
	// The loop, which is told apart by its address before 3.10.
	loop, loopEnd uint64
	// Types of objects that are read.
	codeType, frameType, unicodeType, bytesType uint64
}

// named are the files that may hold an interpreter, with the version of the name.
var named = regexp.MustCompile(`^(?:lib)?python3(?:\.(\d+))?(?:\.so(?:\.\d+)*|m)?$`)

// MayHold reports whether a file may hold an interpreter, by its name.
func MayHold(file string) bool { return named.MatchString(path.Base(file)) }

// ErrNone is returned for files that hold no interpreter.
var ErrNone = errors.New("it holds no interpreter")

// ErrNamed is returned for versions that name their functions themselves.
var ErrNamed = errors.New("this version names its functions itself")

// Find looks for the interpreter of a binary, with its addresses at link time.
func Find(b *symbol.Binary) (*Interpreter, error) {
	runtime, ok := b.Variable("_PyRuntime")
	if !ok {
		return nil, ErrNone
	}
	minor, err := version(b)
	if err != nil {
		return nil, err
	}
	l := layouts[minor]
	switch {
	case minor > 11:
		return nil, ErrNamed
	case l == nil:
		return nil, fmt.Errorf("the frames of Python 3.%d are not known", minor)
	}
	i := &Interpreter{Minor: minor, layout: l, runtime: runtime.Start}
	low, high, err := b.Function("_PyEval_EvalFrameDefault")
	if err != nil {
		return nil, err
	}
	i.loop, i.loopEnd = low, high
	for name, at := range map[string]*uint64{"PyCode_Type": &i.codeType, "PyFrame_Type": &i.frameType, "PyUnicode_Type": &i.unicodeType, "PyBytes_Type": &i.bytesType} {
		v, ok := b.Variable(name)
		if !ok {
			return nil, fmt.Errorf("%s has no %s", b.Path, name)
		}
		*at = v.Start
	}
	return i, nil
}

// At returns the interpreter where its binary is loaded at a bias.
func (i *Interpreter) At(bias uint64) *Interpreter {
	out := *i
	for _, at := range []*uint64{&out.runtime, &out.loop, &out.loopEnd, &out.codeType, &out.frameType, &out.unicodeType, &out.bytesType} {
		*at += bias
	}
	return &out
}

// tag is what an interpreter calls its compiled files by, as a string of its own.
var tag = regexp.MustCompile(`\x00cpython-3(\d{1,2})\x00`)

// mostConstants bounds how much of a binary is searched for its version.
const mostConstants = 64 << 20

// version finds the minor version among the constants of a binary. The name of its
// file must not say another, and what was never released is not known.
func version(b *symbol.Binary) (int, error) {
	at, size, ok := b.Room(".rodata")
	if !ok || size > mostConstants {
		return 0, ErrNone
	}
	constants, err := b.Code(at, int(size))
	if err != nil {
		return 0, err
	}
	tags := tag.FindAllSubmatch(constants, 2)
	if len(tags) != 1 {
		return 0, fmt.Errorf("%s does not say which version of Python it is", b.Path)
	}
	minor, _ := strconv.Atoi(string(tags[0][1]))
	if m := named.FindStringSubmatch(path.Base(b.Path)); m != nil && m[1] != "" && m[1] != strconv.Itoa(minor) {
		return 0, fmt.Errorf("%s is Python 3.%d", b.Path, minor)
	}
	if v, ok := b.Variable("Py_Version"); ok { // since 3.11
		const major, final = 3, 15
		word, err := b.Code(v.Start, 4)
		if err != nil || len(word) < 4 || word[3] != major || int(word[2]) != minor || word[0]>>4 != final {
			return 0, fmt.Errorf("%s is no released Python 3.%d", b.Path, minor)
		}
	}
	return minor, nil
}

// Runs reports whether an address is in the loop of the interpreter. Versions that
// mark their runs on the stack are not asked.
func (i *Interpreter) Runs(pc uint64) bool { return pc >= i.loop && pc < i.loopEnd }
