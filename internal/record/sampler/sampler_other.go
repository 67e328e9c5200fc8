//go:build !linux

package sampler

import (
	"context"

	"github.com/isobath/isobath/internal/code/perfevent"
	"github.com/isobath/isobath/internal/record/pmu"
)

// Record needs Linux.
func Record(context.Context, *Options, Sink) (*Outcome, error) { return nil, ErrSystem }

// Try needs Linux.
func Try(pmu.Plan) error { return ErrSystem }

// ClockOffset needs Linux.
func ClockOffset() int64 { return 0 }

// Mappings needs Linux.
func Mappings(int) ([]perfevent.Mapping, error) { return nil, ErrSystem }
