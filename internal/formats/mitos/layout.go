package mitos

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/formats/delimited"
)

// The canonical columns of a Mitos file, by our names. Everything else in a
// file is kept under its own name.
var aliases = map[string]string{
	"address": "addr",
	"xidx":    "x", "yidx": "y", "zidx": "z",
	"source":     "file",
	"variable":   "symbol",
	"bytes":      "width",
	"iter":       "iteration",
	"offset":     "virt_addr_offset",
	"op_type":    "op",
	"hit_type":   "hit",
	"snoop_mode": "snoop",
	"tlb_access": "tlb",
	"data_src":   "data_src", "data_source": "data_source", "dataSource": "dataSource",
}

// known are all column names of every generation, for telling a header from a
// row. IBS columns are recognised by their prefix.
var known = func() map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields(`variable source line time iter latency dataSource data_source data_src cpu node
		index map3D xidx yidx zidx address addr instruction bytes ip pid tid buffer_size dims level hit_type op_type
		snoop_mode tlb_access numa offset virt_addr_offset`) {
		m[n] = true
	}
	return m
}()

func knownColumn(name string) bool { return known[name] || strings.HasPrefix(name, "ibs_") }

// types of the columns that are not decided by their cells. ip, addr, time and
// the load base may be decimal or hexadecimal, but never text.
var types = map[string]delimited.Type{
	"file": delimited.Text, "symbol": delimited.Text, "instruction": delimited.Text,
	"level": delimited.Text, "hit": delimited.Text, "op": delimited.Text, "snoop": delimited.Text, "tlb": delimited.Text,
	"line": delimited.Int, "width": delimited.Int, "buffer_size": delimited.Int, "dims": delimited.Int,
	"x": delimited.Int, "y": delimited.Int, "z": delimited.Int, "pid": delimited.Int, "tid": delimited.Int,
	"cpu": delimited.Int, "node": delimited.Int, "numa": delimited.Int, "latency": delimited.Int, "iteration": delimited.Int,
	"index": delimited.Int, "map3D": delimited.Int,
	"dataSource": delimited.Int, "data_source": delimited.Int, "data_src": delimited.Int,
	"time": delimited.Number, "ip": delimited.Number, "addr": delimited.Number, "virt_addr_offset": delimited.Number,
}

// ibsHex are written in hexadecimal without 0x, always.
var ibsHex = []string{"ibs_op_rip", "ibs_op_phy", "ibs_op_lin", "ibs_branch_target",
	"ibs_fetch_lin_addr", "ibs_fetch_phy_addr", "ibs_fetch_control_extended"}

// ibsText is no column, but every other ibs_ column is a whole number.
func typeOf(name string) delimited.Type {
	switch t, ok := types[name]; {
	case ok:
		return t
	case slices.Contains(ibsHex, name):
		return delimited.Hex
	case strings.HasPrefix(name, "ibs_"):
		return delimited.Int
	}
	return delimited.Auto
}

// layout is how a file is arranged.
type layout struct {
	found  []string // column names as in the file
	names  []string // canonical names, same order
	header int      // length of the header line, 0 if there is none
	// omitted is a column in the header that no row has, or -1.
	omitted int
	broken  bool // rows are broken over two lines
}

// bodies are the columns of files whose header was lost, by number of fields.
// Where two share a number, the first field tells: raw files start with a number,
// bodies with a name.
const (
	common = "ip,variable,buffer_size,dims,xidx,yidx,zidx,pid,tid,time,addr,cpu,latency"
	levels = "level,hit_type,op_type,snoop_mode,tlb_access"
)

var bodies = []struct {
	columns string
	raw     bool
}{
	{"ip,pid,tid,time,addr,cpu,latency,data_src", true},
	{common + ",data_src", true},
	{common + ",data_src,numa", true},
	{common + "," + levels, true},
	{common + "," + levels + ",numa", true},
	{"virt_addr_offset," + common + "," + levels + ",numa", true},
	{common + ",numa," + fetchColumns, true},
	{"virt_addr_offset," + common + ",numa," + fetchColumns, true},
	{common + ",numa," + opColumns, true},
	{"virt_addr_offset," + common + ",numa," + opColumns, true},
	{"variable,source,line,time,iter,latency,dataSource,cpu,node,index,map3D,xidx,yidx,zidx", false},
	{"source,line,instruction,bytes," + common + ",data_src", false},
}

const fetchColumns = "ibs_fetch_max_cnt,ibs_fetch_cnt,ibs_fetch_lat,ibs_fetch_en,ibs_fetch_val,ibs_fetch_comp," +
	"ibs_ic_miss,ibs_phy_addr_valid,ibs_l1_tlb_pg_sz,ibs_l1_tlb_miss,ibs_l2_tlb_miss,ibs_rand_en," +
	"ibs_fetch_l2_miss,ibs_fetch_lin_addr,ibs_fetch_phy_addr,ibs_fetch_control_extended"

const opColumns = "ibs_op_max_cnt,ibs_op_en,ibs_op_val,ibs_op_cnt_ctl,ibs_op_max_cnt_upper,ibs_op_cur_cnt,ibs_op_rip," +
	"ibs_comp_to_ret_ctr,ibs_tag_to_ret_ctr,ibs_op_brn_resync,ibs_op_misp_return,ibs_op_return,ibs_op_brn_taken," +
	"ibs_op_brn_misp,ibs_op_brn_ret,ibs_rip_invalid,ibs_op_brn_fuse,ibs_op_microcode,ibs_nb_req_src," +
	"ibs_nb_req_dst_node,ibs_nb_req_cache_hit_st,ibs_ld_op,ibs_st_op,ibs_dc_l1_tlb_miss,ibs_dc_l2_tlb_miss," +
	"ibs_dc_l1_tlb_hit_2m,ibs_dc_l1_tlb_hit_1g,ibs_dc_l2_tlb_hit_2m,ibs_dc_miss,ibs_dc_miss_acc,ibs_dc_ld_bank_con," +
	"ibs_dc_st_bank_con,ibs_dc_st_to_ld_fwd,ibs_dc_st_to_ld_can,ibs_dc_wc_mem_acc,ibs_dc_uc_mem_acc,ibs_dc_locked_op," +
	"ibs_dc_no_mab_alloc,ibs_lin_addr_valid,ibs_phy_addr_valid,ibs_dc_l2_tlb_hit_1g,ibs_l2_miss,ibs_sw_pf," +
	"ibs_op_mem_width,ibs_op_dc_miss_open_mem_reqs,ibs_dc_miss_lat,ibs_tlb_refill_lat,ibs_op_phy,ibs_op_lin,ibs_branch_target"

// confirmRows is how many rows must agree with a layout that was guessed.
const confirmRows = 100

// recognise decides the layout from the start of a file.
func recognise(head []byte) (*layout, bool) {
	rows := delimited.FirstLines(head, ',', confirmRows+1)
	if len(head) > 0 && head[len(head)-1] != '\n' && len(rows) > 2 {
		rows = rows[:len(rows)-1] // it may be cut off
	}
	if len(rows) == 0 || len(rows[0]) < 5 {
		return nil, false
	}
	if headed(rows[0]) {
		l := &layout{omitted: -1, header: bytes.IndexByte(head, '\n') + 1}
		if l.header == 0 {
			l.header = len(head)
		}
		for _, cell := range rows[0] {
			l.found = append(l.found, string(bytes.TrimPrefix(cell, []byte("\ufeff"))))
		}
		l.canonical()
		l.faults(rows[1:])
		return l, true
	}
	for _, b := range bodies {
		l := &layout{found: strings.Split(b.columns, ","), omitted: -1}
		if len(l.found) == len(rows[0]) && numeric(rows[0][0]) == b.raw && l.confirm(rows) {
			l.canonical()
			return l, true
		}
	}
	return nil, false
}

// peculiar are column names that Mitos writes and other tables do not have: they say
// that the hardware was asked. A source, a variable or a latency is anybody's.
var peculiar = []string{"dataSource", "data_source", "data_src", "hit_type", "snoop_mode", "tlb_access",
	"buffer_size", "dims", "map3D", "xidx", "yidx", "zidx", "virt_addr_offset"}

// headed reports whether a line is a header: at least half of its fields are
// known column names.
func headed(cells [][]byte) bool {
	n := 0
	for _, c := range cells {
		if knownColumn(string(bytes.TrimPrefix(c, []byte("\ufeff")))) {
			n++
		}
	}
	return 2*n >= len(cells)
}

// theirs says that a file is of Mitos by itself: its rows are laid out like those of
// files that lost their header, or one of its columns is peculiar.
func (l *layout) theirs() bool {
	return l.header == 0 || slices.ContainsFunc(l.found, func(name string) bool {
		return slices.Contains(peculiar, name) || strings.HasPrefix(name, "ibs_")
	})
}

func numeric(cell []byte) bool {
	return len(cell) > 0 && strings.Trim(string(cell), "0123456789abcdefABCDEFx") == ""
}

// confirm checks a guessed layout on rows: cpu is a small number, time a large
// one, levels are words.
func (l *layout) confirm(rows [][][]byte) bool {
	for _, row := range rows {
		if len(row) != len(l.found) {
			return false
		}
		for i, name := range l.found {
			if !plausible(name, string(row[i])) {
				return false
			}
		}
	}
	return true
}

func plausible(name, cell string) bool {
	decimal := cell != "" && strings.Trim(cell, "0123456789") == ""
	switch name {
	case "cpu":
		return decimal && len(cell) <= 5
	case "time":
		return numeric([]byte(cell)) && len(cell) >= 7
	case "level", "op_type", "hit_type", "snoop_mode", "tlb_access":
		return !decimal
	}
	return true
}

func (l *layout) canonical() {
	l.names = make([]string, len(l.found))
	for i, n := range l.found {
		l.names[i] = n
		if a, ok := aliases[n]; ok && !slices.Contains(l.found, a) {
			l.names[i] = a
		}
	}
}

// faults notices two known faults of writers in the first rows: a load base
// that is missing together with its comma, and rows broken after a comma.
func (l *layout) faults(rows [][][]byte) {
	short, broken := 0, 0
	for _, row := range rows {
		if len(row) == len(l.found)-1 {
			short++
		}
		if len(row) < len(l.found)-1 && len(row[len(row)-1]) == 0 {
			broken++
		}
	}
	if at := slices.Index(l.names, "virt_addr_offset"); at >= 0 && short == len(rows) && short > 0 {
		l.omitted = at
	}
	l.broken = broken > 0
}

// rename applies the user's mapping from canonical to foreign names.
func (l *layout) rename(m map[string]string) error {
	for _, canonical := range slices.Sorted(maps.Keys(m)) {
		foreign := m[canonical]
		at := slices.Index(l.found, foreign)
		if at < 0 {
			return fmt.Errorf("--map %s=%s: the file has no column %q; it has %s", canonical, foreign, foreign, strings.Join(l.found, ", "))
		}
		if old := slices.Index(l.names, canonical); old >= 0 {
			l.names[old] = l.found[old] + "_file"
		}
		l.names[at] = canonical
	}
	return nil
}

// required are the columns without which a sample says nothing. cpu or tid
// says where, latency, level or addr says what.
func (l *layout) require(name string) error {
	for _, column := range []string{"time", "cpu"} {
		if !slices.Contains(l.names, column) {
			return fmt.Errorf("%s: no column %q; the file has %s; if one of them is it, give --map %s=NAME",
				name, column, strings.Join(l.found, ", "), column)
		}
	}
	return nil
}

func (l *layout) options(progress func(bytes, rows int64)) delimited.Options {
	opt := delimited.Options{Comma: ',', Names: l.names, Skip: l.header, FirstLine: 1, Omitted: l.omitted,
		JoinLines: l.broken, Progress: progress}
	if l.header > 0 {
		opt.FirstLine = 2
	}
	for i, n := range l.names {
		opt.Types = append(opt.Types, typeOf(n))
		if n == "file" || n == "symbol" {
			opt.Absorb = append(opt.Absorb, i)
		}
	}
	return opt
}

func notSamples(name string, data []byte) error {
	rows := delimited.FirstLines(data[:min(len(data), 1<<16)], ',', 1)
	if len(rows) == 0 {
		return fmt.Errorf("%s: the file is empty", name)
	}
	cells := make([]string, 0, len(rows[0]))
	for _, c := range rows[0][:min(8, len(rows[0]))] {
		cells = append(cells, string(c[:min(len(c), 24)]))
	}
	return fmt.Errorf("%s: not a Mitos sample file: %d fields in its first line (%s); map its columns with --map time=NAME --map cpu=NAME",
		name, len(rows[0]), strings.Join(cells, ", "))
}
