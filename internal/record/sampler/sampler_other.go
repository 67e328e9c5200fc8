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

// Mappings needs Linux.
func Mappings(int) ([]perfevent.Mapping, error) { return nil, ErrSystem }
