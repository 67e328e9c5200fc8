package tree

import (
	"fmt"
	"strings"

	"github.com/isobath/isobath/internal/base/term"
)

// Caption says in words how a loop's turns go on: what one would write below a
// picture of them. It is empty for a loop that is entered once.
func (l *Loop) Caption() string {
	if l.Entries < 2 || l.Kind != Plain || l.Unknown.Spread {
		return ""
	}
	about := ""
	if !l.Exact {
		about = "about "
	}
	if l.Min == l.Max {
		return fmt.Sprintf("each of its %s entries makes %s%s", term.Thousands(l.Entries), about, turnsText(l.Min))
	}
	first, last, steps := l.trend()
	switch {
	case steps < 0:
		return fmt.Sprintf("%s entries of %s … %s turns: they grow shorter", term.Thousands(l.Entries), term.Thousands(first), term.Thousands(last))
	case steps > 0:
		return fmt.Sprintf("%s entries of %s … %s turns: they grow longer", term.Thousands(l.Entries), term.Thousands(first), term.Thousands(last))
	}
	text := fmt.Sprintf("%s entries of %s%s to %s turns, half of them at most %s", term.Thousands(l.Entries), about, term.Thousands(l.Min), term.Thousands(l.Max), term.Thousands(l.Median))
	if l.Skipped > 0 {
		text += fmt.Sprintf("; %s make none", term.Thousands(l.Skipped))
	}
	return text
}

func turnsText(n uint64) string {
	if n == 1 {
		return "1 turn"
	}
	return term.Thousands(n) + " turns"
}

// trend tells whether entries make ever more turns (1), ever fewer (-1), or
// neither (0), and how many the first and the last make. Nests whose limits move
// repeat the same course: then it is that of one round.
func (l *Loop) trend() (first, last uint64, steps int) {
	c := l.Course
	if len(c) < 3 || l.CourseEvery != 1 {
		return 0, 0, 0
	}
	round := len(c)
	for i := 2; i < len(c); i++ { // the first entry like the very first begins the next round
		if c[i] == c[0] && c[i] != c[i-1] {
			round = i
			break
		}
	}
	if round < 3 {
		return 0, 0, 0
	}
	for i := range c {
		if c[i] != c[i%round] {
			return 0, 0, 0
		}
	}
	for i := 1; i < round; i++ {
		step := 0
		switch {
		case c[i] > c[i-1]:
			step = 1
		case c[i] < c[i-1]:
			step = -1
		}
		if step == 0 || steps != 0 && step != steps {
			return 0, 0, 0
		}
		steps = step
	}
	return c[0], c[round-1], steps
}

// StrideText says how an address moves.
func (a *Access) StrideText() string {
	if a.Irregular > 0 {
		return fmt.Sprintf("irregular (%s of %s)", term.Thousands(a.Irregular), term.Thousands(a.References))
	}
	var parts []string
	for _, s := range a.Strides {
		if s.Bytes == 0 {
			continue
		}
		parts = append(parts, fmt.Sprintf("%+d bytes a turn %s", s.Bytes, []string{"here", "one loop out", "two loops out", "three loops out"}[s.Level]))
	}
	if len(parts) == 0 {
		return "one address"
	}
	return strings.Join(parts, ", ")
}
