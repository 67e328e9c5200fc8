package wholefile

import "golang.org/x/sys/unix"

// renameNew renames unless the new name is taken.
func renameNew(tmp, path string) error {
	err := unix.RenamexNp(tmp, path, unix.RENAME_EXCL)
	if unsupported(err) {
		return renameNewPlain(tmp, path)
	}
	return err
}

// exchange swaps two paths in one step.
func exchange(a, b string) error {
	err := unix.RenamexNp(a, b, unix.RENAME_SWAP)
	if unsupported(err) {
		return exchangeByTurns(a, b)
	}
	return err
}
