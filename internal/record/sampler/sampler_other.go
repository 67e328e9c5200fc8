//go:build !linux

package sampler

import "context"

// Record needs Linux.
func Record(context.Context, *Options, Sink) (*Outcome, error) { return nil, ErrSystem }
