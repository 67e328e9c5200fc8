package datasrc

import (
	"fmt"
	"strings"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/machine/hw"
)

// Why says in a sentence how the level of a sample was decided, from the fields
// that the recording kept. The fields are decoded again: where that does not
// give the level of the table, the sentence says so instead of inventing a
// reason.
func Why(t *table.Table, row int) string {
	level := t.Column("level")
	if level == nil || level.Provenance == table.Absent {
		return "This data does not say which level served an access."
	}
	if !level.Has(row) && neither(t, row) {
		return "No level: the micro-op is neither a load nor a store, so nothing served it."
	}
	name := level.Text(row)
	if !level.Has(row) {
		name = "no level"
	}
	for _, decode := range []func(*table.Table, int) ([]reason, bool){ibsReasons, perfReasons, pebsReasons} {
		reasons, ok := decode(t, row)
		if !ok {
			continue
		}
		for _, r := range reasons {
			if r.level.String() == level.Text(row) {
				return name + ": " + r.text + "."
			}
		}
		return name + ": as the importer read it; the fields kept with the sample do not lead there."
	}
	if hit := t.Column("hit"); hit != nil && hit.Has(row) {
		if hit.Text(row) == hitNames[Miss] {
			return fmt.Sprintf("%s: the recorder says that the level before it was missed.", name)
		}
		return fmt.Sprintf("%s: the recorder names this level as a hit.", name)
	}
	return name + ": as the recorder wrote it; the data keeps no fields that it was decoded from."
}

// neither reports whether a sample of IBS is no memory operation.
func neither(t *table.Table, row int) bool {
	load, ok := cellNumber(t, "ibs_ld_op", row)
	store, _ := cellNumber(t, "ibs_st_op", row)
	return ok && load == 0 && store == 0
}

// reason is a level and what leads to it.
type reason struct {
	level hw.Level
	text  string
}

// cellNumber returns the value of a row; false if the column or the value is not
// there.
func cellNumber(t *table.Table, name string, row int) (uint64, bool) {
	c := t.Column(name)
	if c == nil || !c.Has(row) {
		return 0, false
	}
	if words, ok := c.Data.([]uint64); ok {
		return words[row], true
	}
	switch d := c.Data.(type) {
	case []int64:
		return uint64(d[row]), true
	case []int32, []uint8, []float64:
		return uint64(c.Float(row)), true
	}
	return 0, false
}

// ibsReasons decodes the fields of IBS for every generation: the table does not
// say which it was, its level does.
func ibsReasons(t *table.Table, row int) ([]reason, bool) {
	if _, ok := cellNumber(t, "ibs_ld_op", row); !ok {
		return nil, false
	}
	set := func(name string) bool { v, _ := cellNumber(t, name, row); return v != 0 }
	source, _ := cellNumber(t, "ibs_nb_req_src", row)
	op := IBSOp{Load: set("ibs_ld_op"), Uncached: set("ibs_dc_uc_mem_acc"), DCMiss: set("ibs_dc_miss"), L2Miss: set("ibs_l2_miss"),
		Prefetch: set("ibs_sw_pf"), NoMAB: set("ibs_dc_no_mab_alloc"), Remote: set("ibs_nb_req_dst_node"), Source: source}
	var out []reason
	for _, z := range []Zen{Zen3, Zen4, Zen12} {
		level, text := op.Level(z)
		out = append(out, reason{level, text})
	}
	return out, true
}

// perfReasons reads the kernel's data_src word.
func perfReasons(t *table.Table, row int) ([]reason, bool) {
	w, ok := cellNumber(t, "data_src", row)
	if !ok {
		return nil, false
	}
	a := Perf(w)
	if num := field(w, numShift, numBits); num != 0 && num != 0xf {
		text := fmt.Sprintf("level number %#x of data_src %#x", num, w)
		if field(w, remoteShift, remoteBits) != 0 {
			text += " with the remote bit"
		}
		return []reason{{a.Level, text + missed(a)}}, true
	}
	var named []string
	for _, l := range perfLevels {
		if field(w, lvlShift, lvlBits)&l.bit != 0 {
			named = append(named, l.level.String())
		}
	}
	text := fmt.Sprintf("data_src %#x names %s", w, strings.Join(named, " and "))
	if a.Ambiguous {
		text += "; of two levels the farther is taken"
	}
	return []reason{{a.Level, text + missed(a)}}, true
}

func missed(a Access) string {
	switch {
	case a.Hit == Miss && !a.Ambiguous:
		return " as missed, so something beyond served it"
	case a.Hit == HitLevel:
		return " as a hit"
	}
	return ""
}

// pebsReasons reads the older Intel number, which files of 2015 hold as decimal
// digits taken for hexadecimal ones.
func pebsReasons(t *table.Table, row int) ([]reason, bool) {
	for _, name := range []string{"dataSource", "data_source"} {
		w, ok := cellNumber(t, name, row)
		if !ok {
			continue
		}
		out := []reason{{PEBS(w).Level, fmt.Sprintf("%s is %d, whose low four bits %#x mean this level on Intel processors before 2016", name, w, w&0xf)}}
		if undone, ok := HexTextAsDecimal(w); ok {
			out = append(out, reason{PEBS(undone).Level, fmt.Sprintf("%s is %d, which its writer took for hexadecimal; it is %d, and the low four bits %#x mean this level", name, w, undone, undone&0xf)})
		}
		return out, true
	}
	return nil, false
}

// HexTextAsDecimal writes v in hexadecimal and reads that as decimal: 103 is
// 0x67 and gives 67. It fails if a digit is a letter.
func HexTextAsDecimal(v uint64) (uint64, bool) {
	var n, scale uint64 = 0, 1
	for ; v > 0; v >>= 4 {
		if v&0xf > 9 {
			return 0, false
		}
		n += v & 0xf * scale
		scale *= 10
	}
	return n, true
}
