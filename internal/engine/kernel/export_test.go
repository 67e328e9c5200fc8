package kernel

// WithoutVectors makes an old processor of this one until restore is called.
func WithoutVectors() (restore func()) {
	compress, vectors := hasCompress, hasVectors
	hasCompress, hasVectors = false, false
	return func() { hasCompress, hasVectors = compress, vectors }
}
