package symbol

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// vdsoName is how the kernel names the library that it maps into every process
// itself. No file has it: perf keeps copies, and every process has its own.
const vdsoName = "[vdso]"

var errNoVDSO = errors.New("the kernel's own library of the recording is not at hand; perf buildid-cache keeps it")

// maxVDSO is many times what any kernel maps.
const maxVDSO = 1 << 20

// vdso finds the image of a build id: another kernel has another one.
func (f *Files) vdso(buildID string) (*image, string, error) {
	for _, dir := range f.idFolders(buildID) {
		path := filepath.Join(dir, "vdso")
		im, err := openImage(path)
		if err != nil {
			continue
		}
		if sameID(im.buildID, buildID) {
			return im, path, nil
		}
		im.close()
	}
	own, err := ownVDSO()
	if err != nil {
		return nil, "", errNoVDSO
	}
	im, err := newImage(bytes.NewReader(own), int64(len(own)))
	if err != nil || !sameID(im.buildID, buildID) && (buildID != "" || !f.SameKernel) {
		return nil, "", errNoVDSO
	}
	return im, vdsoName, nil
}

// ownVDSO copies the image that is mapped into this process.
func ownVDSO() ([]byte, error) {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return nil, err
	}
	for scan := bufio.NewScanner(bytes.NewReader(maps)); scan.Scan(); {
		if !strings.HasSuffix(scan.Text(), vdsoName) {
			continue
		}
		extent, _, _ := strings.Cut(scan.Text(), " ")
		from, to, _ := strings.Cut(extent, "-")
		low, err := strconv.ParseUint(from, 16, 64)
		high, err2 := strconv.ParseUint(to, 16, 64)
		if err := errors.Join(err, err2); err != nil {
			return nil, err
		}
		return ownMemory(low, high)
	}
	return nil, errNoVDSO
}

func ownMemory(low, high uint64) ([]byte, error) {
	if high < low || high-low > maxVDSO {
		return nil, fmt.Errorf("mapping of %d bytes", high-low)
	}
	mem, err := os.Open("/proc/self/mem")
	if err != nil {
		return nil, err
	}
	defer mem.Close()
	out := make([]byte, high-low)
	_, err = mem.ReadAt(out, int64(low))
	return out, err
}
