package perfdata

// timeOrder returns the rows in order of time, nil if they are in it already.
// Rows of one time keep their order.
//
// Files consist of ascending runs, one for each ring buffer that perf emptied,
// and what is out of order is near its place. Merging neighbouring runs, and
// leaving alone those that follow each other, is then nearly linear.
func timeOrder(time []uint64) []uint32 {
	runs := ascending(time)
	if len(runs) <= 2 {
		return nil
	}
	rows := make([]uint32, len(time))
	for i := range rows {
		rows[i] = uint32(i)
	}
	var spare []uint32
	for len(runs) > 2 {
		var next []int
		for i := 0; i+1 < len(runs); i += 2 {
			next = append(next, runs[i])
			if i+2 < len(runs) {
				spare = merge(time, rows, spare, runs[i], runs[i+1], runs[i+2])
			}
		}
		runs = append(next, len(time))
	}
	return rows
}

// ascending returns where each ascending run begins, and the end of the last.
func ascending(time []uint64) []int {
	runs := []int{0}
	for i := 1; i < len(time); i++ {
		if time[i] < time[i-1] {
			runs = append(runs, i)
		}
	}
	return append(runs, len(time))
}

// merge merges rows[low:mid] and rows[mid:high], both in order, by way of
// spare, which it returns to be used again.
func merge(time []uint64, rows, spare []uint32, low, mid, high int) []uint32 {
	// What lies before the smallest of the right side stays where it is.
	first := time[rows[mid]]
	for low < mid && time[rows[low]] <= first {
		low++
	}
	spare = append(spare[:0], rows[low:mid]...)
	left := spare
	at := low
	for len(left) > 0 && mid < high {
		if time[rows[mid]] < time[left[0]] {
			rows[at] = rows[mid]
			mid++
		} else {
			rows[at] = left[0]
			left = left[1:]
		}
		at++
	}
	copy(rows[at:], left)
	return spare
}
