package wholefile

import "golang.org/x/sys/unix"

// renameNew renames unless the new name is taken.
func renameNew(tmp, path string) error {
	err := unix.Renameat2(unix.AT_FDCWD, tmp, unix.AT_FDCWD, path, unix.RENAME_NOREPLACE)
	if unsupported(err) {
		return renameNewPlain(tmp, path)
	}
	return err
}

// exchange swaps two paths in one step.
func exchange(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if unsupported(err) {
		return exchangeByTurns(a, b)
	}
	return err
}
