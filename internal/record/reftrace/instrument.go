package reftrace

import (
	"context"
	"errors"
)

func (j *job) instrument(context.Context) error { return errors.New("not yet") }
