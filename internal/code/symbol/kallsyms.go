package symbol

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/isobath/isobath/internal/base/plainfile"
)

// Kallsyms is the symbols of a kernel.
type Kallsyms struct {
	symbols []kernelSymbol // by address, those of one address in the order of the list
	names   []byte         // of all symbols, one after the other
	modules []string       // the first is the kernel itself, without a name
}

type kernelSymbol struct {
	addr   uint64
	at     uint32 // of its name in names
	length uint16
	module uint16
}

// maxKernelSymbols is ten times what a large kernel with all modules has.
const maxKernelSymbols = 3 << 20

// ErrHidden is the error for a list whose addresses are all zero, which is what
// the kernel shows to those it does not trust.
var ErrHidden = errors.New("the kernel hides its addresses; root or kernel.kptr_restrict=0 is needed")

// ReadKallsyms reads the form of /proc/kallsyms: address, type, name, and the
// module in brackets.
func ReadKallsyms(r io.Reader) (*Kallsyms, error) {
	k := &Kallsyms{modules: []string{""}}
	modules := map[string]uint16{}
	hidden := false
	scan := bufio.NewScanner(r)
	for scan.Scan() {
		addr, kind, name, module := parseKallsym(scan.Bytes())
		hidden = hidden || addr == 0 && kind != 0
		if addr == 0 || strings.IndexByte("tTwW", kind) < 0 {
			continue
		}
		if len(k.symbols) == maxKernelSymbols || len(k.names) > math.MaxUint32-bufio.MaxScanTokenSize {
			return nil, fmt.Errorf("more than %d kernel symbols", maxKernelSymbols)
		}
		number := uint16(0)
		if len(module) > 0 {
			var known bool
			if number, known = modules[string(module)]; !known && len(k.modules) <= math.MaxUint16 {
				number = uint16(len(k.modules))
				modules[string(module)] = number
				k.modules = append(k.modules, strings.Trim(string(module), "[]"))
			}
		}
		k.symbols = append(k.symbols, kernelSymbol{addr, uint32(len(k.names)), uint16(len(name)), number})
		k.names = append(k.names, name...)
	}
	if err := scan.Err(); err != nil {
		return nil, fmt.Errorf("kernel symbols: %w", err)
	}
	if len(k.symbols) == 0 {
		if hidden {
			return nil, ErrHidden
		}
		return nil, errors.New("no kernel symbols")
	}
	k.sort()
	return k, nil
}

// parseKallsym splits a line; kind is 0 if it is no symbol.
func parseKallsym(line []byte) (addr uint64, kind byte, name, module []byte) {
	n := 0
	for ; n < len(line) && n < 16; n++ {
		digit := bytes.IndexByte([]byte("0123456789abcdef"), line[n]|0x20)
		if digit < 0 || line[n] == ' ' {
			break
		}
		addr = addr<<4 | uint64(digit)
	}
	if n == 0 || len(line) < n+4 || line[n] != ' ' || line[n+2] != ' ' {
		return 0, 0, nil, nil
	}
	name, module, _ = bytes.Cut(line[n+3:], []byte("\t"))
	if before, after, spaced := bytes.Cut(name, []byte(" ")); spaced { // copies may have lost the tab
		name, module = before, after
	}
	if len(name) == 0 || len(name) > math.MaxUint16 {
		return 0, 0, nil, nil
	}
	return addr, line[n+1], name, bytes.TrimSpace(module)
}

func (k *Kallsyms) sort() {
	slices.SortStableFunc(k.symbols, func(a, b kernelSymbol) int { return cmp.Compare(a.addr, b.addr) })
}

func (k *Kallsyms) name(s *kernelSymbol) []byte { return k.names[s.at:][:s.length] }

// Address returns where a function of the kernel itself begins.
func (k *Kallsyms) Address(name string) (uint64, bool) {
	if k == nil {
		return 0, false
	}
	for i := range k.symbols {
		if s := &k.symbols[i]; s.module == 0 && string(k.name(s)) == name {
			return s.addr, true
		}
	}
	return 0, false
}

// Moved returns the symbols of the same kernel loaded elsewhere: every boot may
// move it. Where its modules are then is not known.
func (k *Kallsyms) Moved(by uint64) *Kallsyms {
	if by == 0 {
		return k
	}
	out := &Kallsyms{names: k.names, modules: k.modules}
	for _, s := range k.symbols {
		if s.module == 0 {
			s.addr += by
			out.symbols = append(out.symbols, s)
		}
	}
	out.sort()
	return out
}

// maxKernelFunction bounds how far past its start an address still belongs to
// a function: the list has no sizes.
const maxKernelFunction = 1 << 20

// Function returns the function at an address and its module.
func (k *Kallsyms) Function(addr uint64) (name, module string, ok bool) {
	if k == nil {
		return "", "", false
	}
	// Of several names at one address perf takes the last, and so do we.
	i := sort.Search(len(k.symbols), func(i int) bool { return k.symbols[i].addr > addr }) - 1
	if i < 0 || addr-k.symbols[i].addr > maxKernelFunction {
		return "", "", false
	}
	s := &k.symbols[i]
	return string(k.name(s)), k.modules[s.module], true
}

// ReadKallsymsFile reads a list of kernel symbols.
func ReadKallsymsFile(path string) (*Kallsyms, error) {
	f, err := plainfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	k, err := ReadKallsyms(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return k, nil
}

// CachedKernel returns the symbols that perf kept of the kernel with a build id
// when it recorded; nil if it kept none.
func (f *Files) CachedKernel(buildID string) *Kallsyms {
	for _, dir := range f.idFolders(strings.ToLower(buildID)) {
		if k, err := ReadKallsymsFile(filepath.Join(dir, "kallsyms")); err == nil {
			return k
		}
	}
	return nil
}

// RunningKernel returns the build id of the kernel that runs here; empty if it
// does not say.
func RunningKernel() string {
	notes, err := os.ReadFile("/sys/kernel/notes")
	if err != nil {
		return ""
	}
	// The kernel of a machine has the byte order of its programs, and those
	// that run this one are little endian.
	return noteID(notes, binary.LittleEndian)
}
