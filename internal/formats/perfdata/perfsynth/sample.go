package perfsynth

// Sample writes a sample as its event lays it out.
func (s *Writer) Sample(x Sample) {
	e := &s.events[x.Event]
	if x.ID == 0 && len(e.IDs) > 0 {
		x.ID = e.IDs[0]
	}
	misc := x.Misc
	if misc == 0 {
		misc = 2
	}
	s.Record(9, misc, s.tail(e, &x, s.middle(e, &x, s.head(e, &x))))
}

func (s *Writer) head(e *Event, x *Sample) (b []byte) {
	b = make([]byte, 0, 128)
	st := e.SampleType
	if st&Identifier != 0 {
		b = s.u64(b, x.ID)
	}
	if st&IP != 0 {
		b = s.u64(b, x.IP)
	}
	if st&TID != 0 {
		b = s.u32(s.u32(b, x.PID), x.TID)
	}
	if st&Time != 0 {
		b = s.u64(b, x.Time)
	}
	if st&Addr != 0 {
		b = s.u64(b, x.Addr)
	}
	if st&ID != 0 {
		b = s.u64(b, x.ID)
	}
	if st&StreamID != 0 {
		b = s.u64(b, x.StreamID)
	}
	if st&CPU != 0 {
		b = s.u32(s.u32(b, x.CPU), 0)
	}
	if st&Period != 0 {
		b = s.u64(b, x.Period)
	}
	return b
}

func (s *Writer) middle(e *Event, x *Sample, b []byte) []byte {
	st := e.SampleType
	if st&Read != 0 {
		b = s.u64(b, x.Read...)
	}
	if st&Callchain != 0 {
		b = s.u64(s.u64(b, uint64(len(x.Chain))), x.Chain...)
	}
	if st&Raw != 0 {
		b = append(s.u32(b, uint32(len(x.Raw))), x.Raw...)
	}
	if st&BranchStack != 0 {
		b = s.u64(b, uint64(len(x.Branches)/3))
		if e.BranchType&(1<<17) != 0 {
			b = s.u64(b, 7)
		}
		b = s.u64(b, x.Branches...)
		if e.BranchType&(1<<19) != 0 {
			b = s.u64(b, make([]uint64, len(x.Branches)/3)...)
		}
	}
	if st&RegsUser != 0 {
		b = s.registers(b, x.RegsUser)
	}
	if st&StackUser != 0 {
		b = s.u64(b, uint64(len(x.Stack)))
		if len(x.Stack) > 0 {
			b = s.u64(append(b, x.Stack...), uint64(len(x.Stack)))
		}
	}
	return b
}

func (s *Writer) registers(b []byte, v []uint64) []byte {
	if v == nil {
		return s.u64(b, 0)
	}
	return s.u64(s.u64(b, 2), v...)
}

func (s *Writer) tail(e *Event, x *Sample, b []byte) []byte {
	st := e.SampleType
	if st&(Weight|WeightStruct) != 0 {
		b = s.u64(b, x.Weight)
	}
	if st&DataSrc != 0 {
		b = s.u64(b, x.DataSrc)
	}
	if st&Transaction != 0 {
		b = s.u64(b, x.Transaction)
	}
	if st&RegsIntr != 0 {
		b = s.registers(b, x.RegsIntr)
	}
	if st&PhysAddr != 0 {
		b = s.u64(b, x.Phys)
	}
	if st&Cgroup != 0 {
		b = s.u64(b, x.Cgroup)
	}
	if st&DataPageSize != 0 {
		b = s.u64(b, x.DataPageSize)
	}
	if st&CodePageSize != 0 {
		b = s.u64(b, x.CodePages)
	}
	if st&Aux != 0 {
		b = append(s.u64(b, uint64(len(x.Aux))), x.Aux...)
	}
	return b
}
