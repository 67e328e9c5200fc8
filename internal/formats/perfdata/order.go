package perfdata

import (
	"errors"
	"fmt"

	"github.com/isobath/isobath/internal/code/perfevent"
)

// errDamaged is in every error about a file that is cut off or contradicts
// itself. With --salvage what comes before the damage is imported.
var errDamaged = errors.New("the file is damaged")

// short is the error of a cursor that ran past the end.
func short(c *perfevent.Cursor, what string) error {
	if c.Short {
		return fmt.Errorf("%s is shorter than its own fields say: %w", what, errDamaged)
	}
	return nil
}

// text reads a string of the features: its length with padding, then its bytes.
func text(c *perfevent.Cursor) string { return perfevent.Text(c.Bytes(uint64(c.U32()))) }
