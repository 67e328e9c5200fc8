package symbol

import (
	"context"
	"encoding/binary"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/data/table"
)

// A stack is kept as text, outermost frame first, frames separated by
// semicolons: the form that flame graph programs read, with the position of
// each frame behind its name. A column of it has each distinct stack once.

// String writes a frame as "function (file:line)".
func (f Frame) String() string {
	name := strings.ReplaceAll(f.Function, ";", ",")
	if name == "" {
		name = "?"
	}
	if f.File == "" || f.Line == 0 {
		return name
	}
	return fmt.Sprintf("%s (%s:%d)", name, strings.ReplaceAll(f.File, ";", ","), f.Line)
}

// Place is where a frame is, as "file:line", without the folder of the file.
func (f Frame) Place() string { return fmt.Sprintf("%s:%d", path.Base(f.File), f.Line) }

// ParseStack splits the text of a stack into frames, outermost first.
func ParseStack(text string) []Frame {
	if text == "" {
		return nil
	}
	var out []Frame
	for part := range strings.SplitSeq(text, ";") {
		f := Frame{Function: part}
		if at := strings.LastIndex(part, " ("); at >= 0 && strings.HasSuffix(part, ")") {
			file, line, ok := cutLast(part[at+2:len(part)-1], ":")
			if n, err := strconv.Atoi(line); ok && err == nil && file != "" {
				f = Frame{part[:at], file, n}
			}
		}
		out = append(out, f)
	}
	return out
}

// maxStack is the deepest stack the kernel records by default.
const maxStack = 1024

// stacks returns the columns of call chains: the whole stack and the calling
// function with the line of the call.
func (r *Resolver) stacks(ctx context.Context, s *Samples) ([]*table.Column, error) {
	known := len(r.sites)
	rows := make([]int32, s.Rows) // number of the distinct chain
	distinct := map[string]int32{}
	var chains [][]int32
	var key []byte
	s.each(func(i int) {
		var chain []int32
		if s.PC != nil && (s.HasPC == nil || s.HasPC.Get(i)) {
			chain = append(chain, r.number(s.pid(i), s.time(i), s.PC[i]))
		}
		callers := s.Chain[s.ChainAt[i]:s.ChainAt[i+1]]
		for _, pc := range callers[:min(len(callers), maxStack)] {
			if pc > 0 {
				// A return address is behind the call; the line is the call's.
				chain = append(chain, r.number(s.pid(i), s.time(i), pc-1))
			}
		}
		key = key[:0]
		for _, n := range chain {
			key = binary.LittleEndian.AppendUint32(key, uint32(n))
		}
		n, ok := distinct[string(key)]
		if !ok {
			n = int32(len(chains))
			distinct[string(key)] = n
			chains = append(chains, chain)
		}
		rows[i] = n
	})
	if err := r.locate(ctx, known); err != nil {
		return nil, err
	}
	return r.stackColumns(rows, chains), nil
}

func (r *Resolver) stackColumns(rows []int32, chains [][]int32) []*table.Column {
	stacks, callers, scripts := table.NewInterner(), table.NewInterner(), table.NewInterner()
	stackCode, callerCode, scriptCode := make([]uint32, len(chains)), make([]int32, len(chains)), make([]int32, len(chains))
	for i, chain := range chains {
		var frames []Frame
		for _, n := range chain {
			frames = append(frames, r.sites[n].location.Frames...)
		}
		words := make([]string, len(frames))
		for k, f := range frames {
			words[len(frames)-1-k] = f.String()
		}
		stackCode[i], callerCode[i], scriptCode[i] = stacks.CodeString(strings.Join(words, ";")), none, none
		if len(frames) > 1 {
			callerCode[i] = int32(callers.CodeString(frames[1].String()))
		}
		if name := r.script(chain); name != "" {
			scriptCode[i] = int32(scripts.CodeString(name))
		}
	}
	codes := make([]uint32, len(rows))
	for i, n := range rows {
		codes[i] = stackCode[n]
	}
	out := []*table.Column{table.Categories("stack", table.Derived, codes, stacks.Names(), nil)}
	out[0].Note = "functions from the outermost to the sampled one"
	for _, c := range []*table.Column{
		byNumber("caller", "the function that called the sampled one, and where", rows, callerCode, callers),
		byNumber("script", "the innermost function that is generated code: of a program in Python, JavaScript, Java …", rows, scriptCode, scripts),
	} {
		if c != nil {
			out = append(out, c)
		}
	}
	return out
}

// script names the innermost function of a chain that is generated code; empty if
// none is. Time in an interpreter and its libraries is that of a function of the
// script, which is in none of their files.
func (r *Resolver) script(chain []int32) string {
	for _, n := range chain {
		if s := &r.sites[n]; s.generated > 0 {
			f := s.location.Inner()
			if f.File == "" {
				return f.Function
			}
			return f.Function + " (" + path.Base(f.File) + ")"
		}
	}
	return ""
}
