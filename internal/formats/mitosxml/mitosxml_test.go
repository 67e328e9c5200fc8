package mitosxml

import (
	"bytes"
	"os"
	"testing"

	"github.com/isobath/isobath/internal/machine/hw"
	"github.com/isobath/isobath/internal/machine/topotest"
)

func FuzzRead(f *testing.F) {
	topotest.Fuzz(f, Read,
		`<Hardware><Cache id="9"><CPU id="0"/></Cache></Hardware>`,
		`<Hardware><NUMA id="0" size="18446744073709551615"><CPU id="1048575"/></NUMA></Hardware>`,
		`<Hardware><CPU id="0"><CPU id="1"/></CPU></Hardware>`,
	)
}

func TestSmall(t *testing.T) {
	data, err := os.ReadFile("testdata/small.xml")
	if err != nil {
		t.Fatal(err)
	}
	topo, err := Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	topotest.Check(t, topo, hw.NewPlacer(topo))
	if topo.Name != "small" || topo.ByNode(1).Size != 1<<20 || topo.ByNode(1).CPUs.String() != "1,3" {
		t.Errorf("%q, node 1 %+v; want small, 1024 KiB, CPUs 1 and 3", topo.Name, topo.ByNode(1))
	}
	if l3, err := topo.Find("L3:1"); err != nil || l3.Size != 4096 {
		t.Errorf("L3:1 = %+v, %v; want 4096 bytes", l3, err)
	}
}
