package record

import (
	"fmt"

	"isobath/internal/record/operand"
)

// label says how the address of a timer sample was found, or why it was not.
func (r *row) label() string {
	switch {
	case r.found != operand.Found:
		return "none: " + r.found.String()
	case r.dist == 0:
		return "direct"
	case r.dist < 0 && r.unverified:
		return fmt.Sprintf("back %d, unverified", -r.dist)
	case r.dist < 0:
		return fmt.Sprintf("back %d", -r.dist)
	}
	return fmt.Sprintf("forward %d", r.dist)
}
