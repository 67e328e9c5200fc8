package logical

// MeanLateness is how late, in nanoseconds, an operation of each rank was on average,
// against the earliest of its peers.
func (s *Structure) MeanLateness() map[int]float64 {
	sum, count := map[int]float64{}, map[int]float64{}
	for i, p := range s.Proc {
		if rank := s.Trace.Procs[p].Rank; rank >= 0 {
			sum[int(rank)] += float64(s.Trace.NS(s.Late[i]))
			count[int(rank)]++
		}
	}
	for rank := range sum {
		sum[rank] /= count[rank]
	}
	return sum
}
