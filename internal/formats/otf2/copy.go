package otf2

import (
	"io"
	"os"
	"path/filepath"
	"strings"
)

// CopyFiles copies an archive, which may lie in a folder, to another name: the
// anchor, the definitions and the files of its locations, byte for byte.
func CopyFiles(from, to string) error {
	anchor, err := anchorPath(from)
	if err != nil {
		return err
	}
	base, target := strings.TrimSuffix(anchor, filepath.Ext(anchor)), strings.TrimSuffix(to, filepath.Ext(to))
	if err := copyFile(anchor, to); err != nil {
		return err
	}
	if err := copyFile(base+".def", target+".def"); err != nil {
		return err
	}
	entries, err := os.ReadDir(base)
	if err != nil {
		return err
	}
	if err := os.Mkdir(target, 0o777); err != nil {
		return err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		if err := copyFile(filepath.Join(base, e.Name()), filepath.Join(target, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}
