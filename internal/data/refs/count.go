package refs

import "context"

// Counts is what `isobath info` says about a reference trace.
type Counts struct {
	Records  uint64   `json:"records"`
	Loads    uint64   `json:"loads"`
	Stores   uint64   `json:"stores"`
	Modifies uint64   `json:"modifies"` // a load and a store each, counted here only
	Threads  int      `json:"threads"`
	ByThread []Thread `json:"by_thread"` // in order of first appearance
	// Symbols is the number of distinct instructions, or of distinct
	// addresses where the format has no instruction.
	Symbols      int      `json:"symbols"`
	Addresses    int      `json:"addresses"`
	Instructions uint64   `json:"instructions,omitempty"`
	Skipped      uint64   `json:"skipped,omitempty"`
	Notes        []string `json:"notes,omitempty"`
}

// Thread counts the references of one thread.
type Thread struct {
	ID      uint32 `json:"id"`
	Records uint64 `json:"records"`
}

// Count reads a whole trace and counts.
func Count(ctx context.Context, r Source) (*Counts, error) {
	c := &Counts{}
	threads := map[uint32]int{}
	pcs, addrs := map[uint64]struct{}{}, map[uint64]struct{}{}
	err := Each(r, func(batch []Ref) error {
		for i := range batch {
			ref := &batch[i]
			c.countOp(ref.Op)
			k, ok := threads[ref.Thread]
			if !ok {
				k = len(c.ByThread)
				threads[ref.Thread] = k
				c.ByThread = append(c.ByThread, Thread{ID: ref.Thread})
			}
			c.ByThread[k].Records++
			pcs[ref.PC] = struct{}{}
			addrs[ref.Addr] = struct{}{}
		}
		c.Records += uint64(len(batch))
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	c.Threads = len(c.ByThread)
	about := r.About()
	c.Addresses, c.Symbols = len(addrs), len(addrs)
	if about.Has&HasPC != 0 {
		c.Symbols = len(pcs)
	}
	c.Instructions, c.Skipped, c.Notes = about.Instructions, about.Skipped, about.Notes
	return c, nil
}

func (c *Counts) countOp(op Op) {
	switch op {
	case Load:
		c.Loads++
	case Store:
		c.Stores++
	case Modify:
		c.Modifies++
	}
}
