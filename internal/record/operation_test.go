package record

import (
	"testing"
	"testing/fstest"

	"github.com/isobath/isobath/internal/code/spe"
	"github.com/isobath/isobath/internal/code/spe/packets"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/record/sampler"
)

// Loads become rows in order of time; other operations and the kernel's do not.
func TestOperations(t *testing.T) {
	c := newCollector(&symbol.Files{})
	c.sources[3] = spe.Sources(mainID(fstest.MapFS{"sys/devices/system/cpu/cpu3/regs/identification/midr_el1": {Data: []byte("0x00000000410fd0c0\n")}}, 3))
	var d spe.Decoder
	give := func(text string, time uint64, el uint8) {
		d.Reset()
		d.Decode(packets.Bytes(text), func(r *spe.Record) {
			r.EL = el
			c.Operation(nil, &sampler.Operation{Time: time, PID: 7, TID: 8, CPU: 3, Record: r})
		})
	}
	give(packets.Altra, 20, 0)
	give(packets.Load, 10, 0)
	give(packets.Branch, 15, 0)
	give(packets.Load, 5, 2)
	c.order()
	if len(c.rows) != 2 || c.other != 1 || c.kernel != 1 || c.rows[0].time != 10 || c.rows[1].time != 20 {
		t.Fatalf("%d rows, %d without access, %d of the kernel: %+v", len(c.rows), c.other, c.kernel, c.rows)
	}
	got := map[string]string{}
	for _, col := range c.measured() {
		if col.Has(1) {
			got[col.Name] = col.Text(1)
		}
	}
	for name, want := range map[string]string{"addr": "0xffff403ef1d79e50", "latency": "501", "op": "load", "level": "Local Peer Cache", "snoop": "peer", "tlb": "hit"} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
}
