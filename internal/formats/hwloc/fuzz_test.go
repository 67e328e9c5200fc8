package hwloc

import (
	"testing"

	"github.com/isobath/isobath/internal/machine/topotest"
)

func FuzzRead(f *testing.F) {
	topotest.Fuzz(f, Read,
		`<topology version="2.0"><object type="NUMANode" os_index="0" cpuset="0xf...f"/></topology>`,
		`<topology><distances nbobjs="1000000000" relative_depth="1"/><object type="PU" os_index="0"/></topology>`,
		`<topology version="2.0"><object type="PU" os_index="4294967295"/></topology>`,
		`<topology version="2.0"><object type="L9Cache"><object type="PU" os_index="0"/></object></topology>`,
		`<topology><object type="Core"><object type="Core"><object type="PU" os_index="0"/></object><object type="PU" os_index="1"/></object></topology>`,
	)
}
