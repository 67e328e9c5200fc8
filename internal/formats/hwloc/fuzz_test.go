package hwloc

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"isobath/internal/hw"
	"isobath/internal/test/topotest"
)

// FuzzRead starts from small files made by hand, one for each version, and
// from descriptions that once did or could do harm.
func FuzzRead(f *testing.F) {
	names, _ := filepath.Glob("testdata/*.xml")
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`<topology version="2.0"><object type="NUMANode" os_index="0" cpuset="0xf...f"/></topology>`))
	f.Add([]byte(`<topology><distances nbobjs="1000000000" relative_depth="1"/><object type="PU" os_index="0"/></topology>`))
	f.Add([]byte(`<topology version="2.0"><object type="PU" os_index="4294967295"/></topology>`))
	f.Add([]byte(`<topology version="2.0"><object type="L9Cache"><object type="PU" os_index="0"/></object></topology>`))
	f.Fuzz(func(t *testing.T, data []byte) {
		topo, err := Read(bytes.NewReader(data))
		if err == nil {
			topotest.Check(t, topo, hw.NewPlacer(topo))
		}
	})
}
