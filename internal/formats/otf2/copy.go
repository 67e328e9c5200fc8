package otf2

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/isobath/isobath/internal/base/plainfile"
	"github.com/isobath/isobath/internal/base/wholefile"
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
	in, err := plainfile.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	return wholefile.Fill(context.Background(), to, func(out *os.File) error {
		_, err := io.Copy(out, in)
		return err
	})
}
