package kernel_test

import (
	"math/rand/v2"
	"testing"

	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/engine/kernel"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/engine/query/enginetest"
	"github.com/isobath/isobath/internal/engine/query/naive"
)

// The plain loops that processors without wide vectors use give the same.
// askedAtOnce says what watches the goroutines of an answer.
const askedAtOnce = "TestConcurrentClients asks such questions from several goroutines"

func TestEqualsNaiveWithoutVectors(t *testing.T) {
	test.NoRaces(t, askedAtOnce)
	defer kernel.WithoutVectors()()
	for seed, rows := range []int{1, 100, 1000, 3000, 40_000} {
		r := rand.New(rand.NewPCG(uint64(seed), 5))
		d := enginetest.Data(r, rows)
		e := kernel.New(d, kernel.Options{Budget: budget.New(1 << 30)})
		enginetest.Same(t, r, d, naive.New(d), e, 12)
		e.Close()
	}
}

func TestEqualsNaive(t *testing.T) {
	test.NoRaces(t, askedAtOnce)
	enginetest.Run(t, func(t *testing.T, d query.Data) query.Engine {
		e := kernel.New(d, kernel.Options{Budget: budget.New(1 << 30)})
		t.Cleanup(e.Close)
		return e
	})
}
