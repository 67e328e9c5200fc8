//go:build !linux || !(amd64 || arm64)

package step

import "context"

func run(context.Context, Options) (*Result, error) { return nil, ErrUnsupported }
