//go:build unix

package ccache

import (
	"fmt"
	"os"
	"syscall"
)

func private(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || int(st.Uid) != os.Getuid() || info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s belongs to someone else", dir)
	}
	return nil
}
