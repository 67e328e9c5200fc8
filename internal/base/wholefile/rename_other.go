//go:build !linux && !darwin

package wholefile

func renameNew(tmp, path string) error { return renameNewPlain(tmp, path) }

func exchange(a, b string) error { return exchangeByTurns(a, b) }
