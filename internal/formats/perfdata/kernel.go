package perfdata

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/code/symbol"
)

// kernelName is how perf calls the kernel where it has mappings and build ids.
// In mappings the name of a symbol stands behind it, by whose address can be
// told where the kernel was loaded.
const kernelName = "[kernel.kallsyms]"

// kernelFolder is where perf record --kcore keeps the kernel's symbols.
const kernelFolder = "kcore_dir"

// anchors are symbols that may be the first of the kernel's text.
var anchors = []string{"_text", "_stext", "startup_64", "_head", "srso_alias_untrain_ret"}

// errOtherKernel is why the symbols at hand are not used.
var errOtherKernel = errors.New("the recording is of another kernel than runs here")

// nameKernel finds the symbols of the recorded kernel. A file the user names
// must be readable; anything else that is missing costs names only.
func (im *importer) nameKernel() error {
	files := im.binaryFiles()
	files.UseKernel(nil)
	const half = 63 // the bit of addresses that only the kernel's have
	if (im.rows.ip.all|im.fetches.ip.all)>>half == 0 && im.opt.Kallsyms == "" {
		return nil // a long list that nobody needs
	}
	k, err := im.kernelSymbols(files)
	files.UseKernel(k)
	if err != nil && im.opt.Kallsyms == "" {
		im.warnf("functions of the kernel have no names: %v; give --kallsyms FILE, a copy of /proc/kallsyms of that machine", err)
		return nil
	}
	return err
}

// kernelSymbols looks where they may be: the user's file, the recording's
// folder, perf's cache, and this machine.
func (im *importer) kernelSymbols(files *symbol.Files) (*symbol.Kallsyms, error) {
	if im.opt.Kallsyms != "" {
		k, err := symbol.ReadKallsymsFile(im.opt.Kallsyms)
		if err != nil {
			return nil, fmt.Errorf("kernel symbols: %w", err)
		}
		return im.loaded(k)
	}
	if im.beside.path != "" {
		k, err := symbol.ReadKallsymsFile(filepath.Join(im.beside.path, kernelFolder, "kallsyms"))
		if err == nil {
			return im.loaded(k)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	id := im.features.BuildIDs[kernelName]
	running := symbol.RunningKernel()
	same := id != "" && running != "" && strings.HasPrefix(id, running)
	if !same && (id != "" && running != "" || !files.SameKernel) {
		if k := files.CachedKernel(id); k != nil {
			return im.loaded(k)
		}
		return nil, errOtherKernel
	}
	k, err := symbol.ReadKallsymsFile("/proc/kallsyms")
	if errors.Is(err, symbol.ErrHidden) {
		if cached := files.CachedKernel(id); cached != nil {
			return im.loaded(cached)
		}
	}
	if err != nil {
		return nil, err
	}
	return im.loaded(k)
}

// loaded moves symbols to where the recorded kernel was.
func (im *importer) loaded(k *symbol.Kallsyms) (*symbol.Kallsyms, error) {
	i := slices.IndexFunc(im.notes, func(n fileNote) bool { return n.Kind == Map && n.Kernel && strings.HasPrefix(n.Name, kernelName) })
	if i < 0 {
		return k, nil // nothing says that it is elsewhere
	}
	n := &im.notes[i]
	if name := strings.TrimPrefix(n.Name, kernelName); name != "" {
		if at, ok := k.Address(name); ok {
			return k.Moved(n.Offset - at), nil
		}
	}
	for _, name := range anchors {
		if at, ok := k.Address(name); ok && at == n.Start {
			return k, nil
		}
	}
	return nil, errors.New("the symbols do not say where the recorded kernel was loaded")
}
