package record

import (
	"fmt"

	"github.com/isobath/isobath/internal/record/operand"
)

// inKernel is the label of samples in the kernel: they are no accesses of the program.
const inKernel = "kernel"

// label says how the address of a timer sample was found, or why it was not.
func (r *row) label() string {
	doubt := ""
	if r.unverified {
		doubt = ", unverified"
	}
	switch {
	case r.way != 0:
		return inKernel
	case r.found != operand.Found:
		return "none: " + r.found.String()
	case r.again:
		return fmt.Sprintf("again %d%s", r.dist, doubt)
	case r.dist == 0:
		return "direct" + doubt
	case r.dist < 0:
		return fmt.Sprintf("back %d%s", -r.dist, doubt)
	}
	return fmt.Sprintf("forward %d%s", r.dist, doubt)
}
