// Package kind names the kinds of data a file or run may hold, and where a
// recording was made. Readers, runs and pages speak of them alike.
package kind

// Kind says what a file holds, and so which analyses apply to it.
type Kind string

// The kinds of data, as `isobath info` prints them.
const (
	Samples  Kind = "samples"  // sampled memory accesses
	Refs     Kind = "refs"     // every memory reference of a region
	Trace    Kind = "trace"    // message-passing operations
	Mesh     Kind = "mesh"     // the application's own domain
	Topology Kind = "topology" // a hardware tree alone
)

// Known reports whether this program knows a kind.
func Known(k Kind) bool {
	switch k {
	case Samples, Refs, Trace, Mesh, Topology:
		return true
	}
	return false
}

// Origin says where a recording was made. Unknown fields are empty.
type Origin struct {
	Host    string   `json:"host,omitempty"`
	Command []string `json:"command,omitempty"`
	Time    string   `json:"time,omitempty"` // RFC 3339
	Tool    string   `json:"tool,omitempty"`
}
