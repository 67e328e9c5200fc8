package kernel_test

import (
	"testing"

	"isobath/internal/kernel"
	"isobath/internal/query"
	"isobath/internal/query/enginetest"
)

func TestEqualsNaive(t *testing.T) {
	enginetest.Run(t, func(t *testing.T, d query.Data) query.Engine {
		e := kernel.New(d, kernel.Options{Budget: kernel.NewBudget(1 << 30)})
		t.Cleanup(e.Close)
		return e
	})
}
