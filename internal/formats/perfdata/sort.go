package perfdata

// sorter puts times in order. Its memory is used again and again.
type sorter struct {
	rows, spare []uint32
	runs        []int
}

// timeOrder returns the rows in order of time, nil if they are in it already. Rows
// of one time keep their order. The result is valid until the next call.
//
// Times consist of ascending runs, one for each ring buffer that perf emptied,
// and what is out of order is near its place. Merging neighbouring runs, and
// leaving alone those that follow each other, is then nearly linear.
func timeOrder[T int64 | uint64](s *sorter, time []T) []uint32 {
	s.runs = ascending(time, s.runs[:0])
	if len(s.runs) <= 2 {
		return nil
	}
	if cap(s.rows) < len(time) {
		s.rows = make([]uint32, len(time), len(time)+len(time)/4)
	}
	rows := s.rows[:len(time)]
	for i := range rows {
		rows[i] = uint32(i)
	}
	runs := s.runs
	for len(runs) > 2 {
		next := runs[:0]
		for i := 0; i+1 < len(runs); i += 2 {
			low, mid := runs[i], runs[i+1]
			if i+2 < len(runs) {
				s.spare = merge(time, rows, s.spare, low, mid, runs[i+2])
			}
			next = append(next, low)
		}
		runs = append(next, len(time))
	}
	return rows
}

// ascending appends where each ascending run begins, and the end of the last.
func ascending[T int64 | uint64](time []T, runs []int) []int {
	runs = append(runs, 0)
	for i := 1; i < len(time); i++ {
		if time[i] < time[i-1] {
			runs = append(runs, i)
		}
	}
	return append(runs, len(time))
}

// merge merges rows[low:mid] and rows[mid:high], both in order, by way of
// spare, which it returns to be used again.
func merge[T int64 | uint64](time []T, rows, spare []uint32, low, mid, high int) []uint32 {
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
