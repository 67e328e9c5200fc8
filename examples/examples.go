// Package examples holds the sources of the example programs, which the
// built-in runs show beside their recordings.
package examples

import "embed"

// Loops are the programs of the cycles demo.
//
//go:embed loops
var Loops embed.FS

// Locality is the program of the locality demo.
//
//go:embed locality
var Locality embed.FS
