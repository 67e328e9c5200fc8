package symbol

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Kallsyms is the symbols of a kernel.
type Kallsyms struct {
	addrs   []uint64
	names   []string
	modules []string // empty for the kernel itself
}

// maxKernelSymbols is ten times what a large kernel with all modules has.
const maxKernelSymbols = 3 << 20

// ErrHidden is the error for a list whose addresses are all zero, which is what
// the kernel shows to those it does not trust.
var ErrHidden = errors.New("the kernel hides its addresses; root or kernel.kptr_restrict=0 is needed")

// ReadKallsyms reads the form of /proc/kallsyms: address, type, name, and the
// module in brackets.
func ReadKallsyms(r io.Reader) (*Kallsyms, error) {
	type symbol struct {
		addr         uint64
		name, module string
	}
	var list []symbol
	hidden := true
	scan := bufio.NewScanner(r)
	for scan.Scan() {
		fields := strings.Fields(scan.Text())
		if len(fields) < 3 || len(fields[1]) != 1 {
			continue
		}
		addr, err := strconv.ParseUint(fields[0], 16, 64)
		if err != nil {
			continue
		}
		hidden = hidden && addr == 0
		if addr == 0 || !strings.Contains("tTwW", fields[1]) {
			continue
		}
		if len(list) == maxKernelSymbols {
			return nil, fmt.Errorf("more than %d kernel symbols", maxKernelSymbols)
		}
		s := symbol{addr: addr, name: fields[2]}
		if len(fields) > 3 {
			s.module = fields[3]
		}
		list = append(list, s)
	}
	if err := scan.Err(); err != nil {
		return nil, fmt.Errorf("kernel symbols: %w", err)
	}
	if len(list) == 0 {
		if hidden {
			return nil, ErrHidden
		}
		return nil, errors.New("no kernel symbols")
	}
	slices.SortStableFunc(list, func(a, b symbol) int {
		switch {
		case a.addr < b.addr:
			return -1
		case a.addr > b.addr:
			return 1
		}
		return 0
	})
	k := &Kallsyms{}
	for _, s := range list {
		k.addrs, k.names, k.modules = append(k.addrs, s.addr), append(k.names, s.name), append(k.modules, s.module)
	}
	return k, nil
}

// maxKernelFunction bounds how far past its start an address still belongs to
// a function: the list has no sizes.
const maxKernelFunction = 1 << 20

// Function returns the function at an address and its module.
func (k *Kallsyms) Function(addr uint64) (name, module string, ok bool) {
	if k == nil {
		return "", "", false
	}
	i := sort.Search(len(k.addrs), func(i int) bool { return k.addrs[i] > addr }) - 1
	if i < 0 || addr-k.addrs[i] > maxKernelFunction {
		return "", "", false
	}
	// The first of several names at one address is the linker's.
	for i > 0 && k.addrs[i-1] == k.addrs[i] {
		i--
	}
	return k.names[i], strings.Trim(k.modules[i], "[]"), true
}
