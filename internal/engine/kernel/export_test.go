package kernel

// WithoutVectors makes an old processor of this one until restore is called.
func WithoutVectors() (restore func()) {
	compress, vectors := hasCompress, hasVectors
	hasCompress, hasVectors = false, false
	return func() { hasCompress, hasVectors = compress, vectors }
}

// Used returns the bytes in use now.
func (b *Budget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}
