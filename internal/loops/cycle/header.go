package cycle

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/isobath/isobath/internal/base/term"
)

// Loops finds the loop of the code around some instructions.
type Loops interface {
	Around(pcs []uint64) (Header, bool)
}

// Header is a loop of the code.
type Header struct {
	Index          int // in the list of loops
	Text, File     string
	Line           int
	Entries, Trips uint64
	Exact          bool // both are counted
	// Rebuilt says that the loop was told from instructions that make
	// references: a last turn that only tests may count.
	Rebuilt bool
}

// Name is how a class is called after it: its text without the brace.
func (h *Header) Name() string {
	if h.Line == 0 {
		return h.Text
	}
	return fmt.Sprintf("%s:%d", h.File, h.Line)
}

var (
	loopVariable = regexp.MustCompile(`^for\s*\(\s*(?:[\w:&<>*]+\s+)*?[&*]*(\w+)\s*[=:]`)
	loopHead     = regexp.MustCompile(`^(?:while|for)\s*\(.*?\)`)
)

// longestHead is how much of a condition stands in a title.
const longestHead = 28

// Title is how a class is called after the loop: "for j, lu.c:12".
func (h *Header) Title() string {
	head := h.Text
	if m := loopVariable.FindStringSubmatch(h.Text); m != nil {
		head = "for " + m[1]
	} else if m := loopHead.FindString(h.Text); m != "" {
		head = m
	} else {
		head = strings.TrimSpace(strings.TrimRight(head, "{ "))
	}
	switch {
	case h.Line == 0:
		return term.Clip(head, longestHead)
	case head == "": // the text is not at hand
		return h.Name()
	}
	return fmt.Sprintf("%s, %s:%d", term.Clip(head, longestHead), h.File, h.Line)
}

// agrees reports whether so many turns are those of the loop.
func (h *Header) agrees(turns int64) bool {
	if turns < 0 {
		return false
	}
	if h.Rebuilt {
		return uint64(turns) <= h.Trips && uint64(turns)+h.Entries >= h.Trips
	}
	return h.Exact && uint64(turns) == h.Trips
}

// attach finds the loop that each class goes around. A class that makes other
// turns than the loop counts one way through it, or is not counted at all.
func (a *analysis) attach() {
	if a.opts.Loops == nil || a.Trace.Where == nil {
		for _, c := range a.Classes {
			c.Exact = c.Exact && c.Stable // nothing else speaks for the count
		}
		return
	}
	for _, c := range a.Classes {
		if c.Turns == 0 || c.TurnLength == 0 {
			continue
		}
		seen := map[uint64]bool{}
		var pcs []uint64
		for _, s := range a.Trace.Where[c.TurnAt : c.TurnAt+c.TurnLength] {
			if pc := a.Trace.Sites[s].PC; pc != 0 && !seen[pc] {
				seen[pc] = true
				pcs = append(pcs, pc)
			}
		}
		if h, ok := a.opts.Loops.Around(pcs); ok {
			c.Header = &h
		}
		c.Exact = c.Exact && a.Trace.Every <= 1 && c.Header != nil && c.Header.agrees(c.Turns)
	}
}

// Of says what the turns of a class are part of; empty where they are all.
func (c *Class) Of() string {
	h := c.Header
	if h == nil {
		return ""
	}
	if !c.Exact && h.Trips > uint64(c.Turns) && !h.agrees(c.Turns) {
		about := ""
		if !h.Exact {
			about = "about "
		}
		return fmt.Sprintf("one path of the %s%s turns of %s", about, term.Thousands(int64(h.Trips)), h.Name())
	}
	return ""
}
