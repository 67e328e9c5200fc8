package otf2

import (
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/formats/foreign"
)

// Format recognises OTF2 archives: an anchor file, or a folder with one.
var Format = foreign.Format{
	Name: "otf2",
	Kind: kind.Trace,
	Sniff: func(in *foreign.Input) bool {
		if !in.Dir() {
			return isAnchor(in.Head)
		}
		return slices.ContainsFunc(in.Names, func(name string) bool { return strings.HasSuffix(name, ".otf2") })
	},
}
