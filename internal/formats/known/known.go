// Package known lists every format Isobath reads.
package known

import (
	"isobath/internal/formats"
	"isobath/internal/formats/otf2"
)

// Formats is the list, in the order in which files are tried: formats with a
// certain signature first, text that merely looks right last.
var Formats = []formats.Format{
	otf2.Format,
}
