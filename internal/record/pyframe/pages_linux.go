package pyframe

import "golang.org/x/sys/unix"

const pageSize = 4096

// Pages is the memory of a process that stands still, by the page: what lies close
// together is asked for once.
type Pages struct {
	pid    int
	loaded map[uint64]*[pageSize]byte // nil for what cannot be read
	free   []*[pageSize]byte
}

// mostPages bounds what one look may read.
const mostPages = 1 << 10

// NewPages returns the memory of no process yet.
func NewPages() *Pages { return &Pages{loaded: map[uint64]*[pageSize]byte{}} }

// Begin is another look, at a process that stands still.
func (p *Pages) Begin(pid int) {
	p.pid = pid
	for _, page := range p.loaded {
		if page != nil && len(p.free) < mostPages/16 {
			p.free = append(p.free, page)
		}
	}
	clear(p.loaded)
}

func (p *Pages) room() *[pageSize]byte {
	if n := len(p.free); n > 0 {
		out := p.free[n-1]
		p.free = p.free[:n-1]
		return out
	}
	return new([pageSize]byte)
}

// Read copies memory.
func (p *Pages) Read(addr uint64, to []byte) bool {
	if addr+uint64(len(to)) < addr {
		return false
	}
	for len(to) > 0 {
		page := p.page(addr &^ (pageSize - 1))
		if page == nil {
			return false
		}
		n := copy(to, page[addr%pageSize:])
		addr, to = addr+uint64(n), to[n:]
	}
	return true
}

func (p *Pages) page(at uint64) *[pageSize]byte {
	page, ok := p.loaded[at]
	if ok || len(p.loaded) >= mostPages {
		return page
	}
	page = p.room()
	local := []unix.Iovec{{Base: &page[0], Len: pageSize}}
	if n, err := unix.ProcessVMReadv(p.pid, local, []unix.RemoteIovec{{Base: uintptr(at), Len: pageSize}}, 0); err != nil || n != pageSize {
		p.free, page = append(p.free, page), nil
	}
	p.loaded[at] = page
	return page
}

// Ahead reads the pages of several objects at once. What cannot be read is left to
// Read.
func (p *Pages) Ahead(addrs []uint64, size uint64) {
	var local []unix.Iovec
	var remote []unix.RemoteIovec
	var pages []*[pageSize]byte
	wanted := map[uint64]bool{}
	for _, addr := range addrs {
		for at := addr &^ (pageSize - 1); at-addr&^(pageSize-1) <= size && at < addr+size && len(p.loaded)+len(pages) < mostPages; at += pageSize {
			if _, ok := p.loaded[at]; ok || wanted[at] {
				continue
			}
			wanted[at] = true
			page := p.room()
			pages = append(pages, page)
			local = append(local, unix.Iovec{Base: &page[0], Len: pageSize})
			remote = append(remote, unix.RemoteIovec{Base: uintptr(at), Len: pageSize})
		}
	}
	if len(pages) == 0 {
		return
	}
	n, _ := unix.ProcessVMReadv(p.pid, local, remote, 0)
	for i, page := range pages {
		if n >= (i+1)*pageSize {
			p.loaded[uint64(remote[i].Base)] = page
		} else {
			p.free = append(p.free, page)
		}
	}
}

// Copy reads up to so many bytes and returns how many there are.
func (p *Pages) Copy(addr uint64, to []byte) int {
	if len(to) == 0 {
		return 0
	}
	local := []unix.Iovec{{Base: &to[0], Len: uint64(len(to))}}
	n, err := unix.ProcessVMReadv(p.pid, local, []unix.RemoteIovec{{Base: uintptr(addr), Len: len(to)}}, 0)
	if err != nil {
		return 0
	}
	return n
}
