package mpiprog

// Halo runs a two-dimensional halo exchange with an Allreduce per iteration on
// rows x columns ranks; rank slow computes delay nanoseconds longer in
// iteration when. It writes about 10 events per rank and iteration plus 6 per
// neighbour.
func (p *Program) Halo(rows, columns, iterations int, slow, when int, delay uint64) {
	neighbours := make([][]int, rows*columns)
	for r := range neighbours {
		y, x := r/columns, r%columns
		for _, d := range [][2]int{{0, -1}, {0, 1}, {-1, 0}, {1, 0}} {
			if v, u := y+d[0], x+d[1]; v >= 0 && v < rows && u >= 0 && u < columns {
				neighbours[r] = append(neighbours[r], v*columns+u)
			}
		}
	}
	requests := make([][]*Request, len(neighbours))
	for i := range iterations {
		for r, list := range neighbours {
			requests[r] = requests[r][:0]
			for _, v := range list {
				requests[r] = append(requests[r], p.Irecv(r, v, World, 7))
			}
			for _, v := range list {
				requests[r] = append(requests[r], p.Isend(r, v, World, 7))
			}
		}
		for r := range neighbours {
			p.Waitall(r, requests[r]...)
			p.Compute(r, 20_000)
			if r == slow && i == when {
				p.Compute(r, delay)
			}
		}
		// Messages of finished iterations are not needed any more.
		clear(p.queues)
		p.Collective(World, Allreduce)
	}
}
