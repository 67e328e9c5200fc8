package sampler

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/code/perfevent"
)

// present tells the sink what everybody had mapped before the events were opened. Of
// many, those that may not be looked at are sampled all the same.
func (w *whom) present(opt *Options, sink Sink) (map[uint32]bool, error) {
	if !w.wide {
		return nil, present(opt.PID, 0, sink)
	}
	known := map[uint32]bool{}
	for _, pid := range w.processes() {
		known[uint32(pid)] = true
		_ = present(pid, 0, sink)
	}
	return known, nil
}

// present tells the sink what a process has mapped and its name, as of a time.
func present(pid int, time uint64, sink Sink) error {
	maps, err := Mappings(pid)
	if err != nil {
		return err
	}
	for i := range maps {
		sink.Mapping(time, &maps[i])
	}
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err == nil {
		sink.Comm(time, &perfevent.Comm{PID: uint32(pid), TID: uint32(pid), Name: strings.TrimSpace(string(name))})
	}
	return nil
}

// Mappings returns what a process has mapped now.
func Mappings(pid int) ([]perfevent.Mapping, error) {
	body, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return nil, fmt.Errorf("process %d: %w", pid, err)
	}
	return parseMaps(uint32(pid), body), nil
}

// Bits of a mapping's protection, as in mmap(2).
const (
	protRead, protWrite, protExec = 1, 2, 4
)

// parseMaps reads /proc/PID/maps: start-end perms offset dev inode path.
func parseMaps(pid uint32, body []byte) []perfevent.Mapping {
	var out []perfevent.Mapping
	lines := bufio.NewScanner(bytes.NewReader(body))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 5 {
			continue
		}
		from, to, ok := strings.Cut(fields[0], "-")
		start, err1 := strconv.ParseUint(from, 16, 64)
		end, err2 := strconv.ParseUint(to, 16, 64)
		offset, err3 := strconv.ParseUint(fields[2], 16, 64)
		if !ok || err1 != nil || err2 != nil || err3 != nil || end <= start {
			continue
		}
		m := perfevent.Mapping{PID: pid, TID: pid, Start: start, Len: end - start, Offset: offset, Name: "//anon"}
		for i, bit := range []uint32{protRead, protWrite, protExec} {
			if len(fields[1]) > i && fields[1][i] != '-' {
				m.Prot |= bit
			}
		}
		m.Data = m.Prot&protExec == 0
		if len(fields) > 5 {
			m.Name = strings.Join(fields[5:], " ") // a path with several blanks in a row is not restored
		}
		out = append(out, m)
	}
	return out
}
