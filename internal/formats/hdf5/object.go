package hdf5

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Message types of object headers.
const (
	msgSpace     = 0x01
	msgLinkInfo  = 0x02
	msgType      = 0x03
	msgOldFill   = 0x04
	msgFill      = 0x05
	msgLink      = 0x06
	msgExternal  = 0x07
	msgLayout    = 0x08
	msgFilters   = 0x0b
	msgAttribute = 0x0c
	msgContinue  = 0x10
	msgSymbols   = 0x11
	msgAttrInfo  = 0x15
)

// Object is a group, a dataset or a committed datatype.
type Object struct {
	Path string
	f    *File
	msgs []message
}

type message struct {
	kind  int
	flags uint8
	body  []byte
}

const maxMessages = 1 << 20

// Root returns the root group.
func (f *File) Root() (*Object, error) { return f.object(f.root, "/") }

func (f *File) object(addr uint64, name string) (*Object, error) {
	o := &Object{Path: name, f: f}
	if err := o.header(addr); err != nil {
		return nil, fmt.Errorf("%s: object header: %w", name, err)
	}
	return o, nil
}

func (o *Object) header(addr uint64) error {
	c, err := o.f.upto(addr, 64)
	if err != nil {
		return err
	}
	if c.left() >= 4 && string(c.b[:4]) == "OHDR" {
		return o.headerV2(addr, c)
	}
	if version := c.u8(); c.err == nil && version != 1 {
		return fmt.Errorf("version %d at address %d is not read", version, addr)
	}
	c.skip(1)
	count := c.u16()
	c.skip(4)
	size := uint64(c.u32())
	if c.err != nil {
		return c.err
	}
	return o.chunks([]region{{addr + 16, size}}, count, func(c *cursor) (m message, size int) {
		m.kind, size = c.u16(), c.u16()
		m.flags = c.u8()
		c.skip(3)
		return m, size
	}, false)
}

type region struct{ addr, size uint64 }

func (o *Object) headerV2(addr uint64, c *cursor) error {
	c.sign("OHDR")
	if v := c.u8(); c.err == nil && v != 2 {
		return fmt.Errorf("version %d is not read", v)
	}
	flags := c.u8()
	if flags&0x20 != 0 {
		c.skip(16)
	}
	if flags&0x10 != 0 {
		c.skip(4)
	}
	size := c.uint(1 << (flags & 3))
	if c.err != nil {
		return c.err
	}
	return o.chunks([]region{{addr + uint64(c.at), size}}, maxMessages, func(c *cursor) (m message, size int) {
		m.kind, size = int(c.u8()), c.u16()
		m.flags = c.u8()
		if flags&4 != 0 {
			c.skip(2)
		}
		return m, size
	}, true)
}

// chunks reads the messages of all chunks of a header. Chunks of version 2
// after the first have a signature and a checksum of their own.
func (o *Object) chunks(todo []region, count int, next func(*cursor) (message, int), v2 bool) error {
	for i := 0; i < len(todo); i++ {
		if i > 4096 {
			return errors.New("too many continuations")
		}
		c, err := o.f.block(todo[i].addr, todo[i].size)
		if err != nil {
			return err
		}
		if v2 && i > 0 {
			c.sign("OCHK")
			c.b = c.b[:max(c.at, len(c.b)-4)]
		}
		for c.left() >= 4 && c.err == nil && len(o.msgs) < min(count, maxMessages) {
			m, size := next(c)
			if m.body = c.take(size); c.err != nil {
				if v2 { // a gap too small for a message
					break
				}
				return c.err
			}
			if m.kind == msgContinue {
				k := &cursor{b: m.body, offset: o.f.offset, length: o.f.length}
				todo = append(todo, region{k.addr(), k.len()})
				if k.err != nil {
					return k.err
				}
			}
			o.msgs = append(o.msgs, m)
		}
	}
	return nil
}

func (o *Object) cursor(b []byte) *cursor {
	return &cursor{b: b, offset: o.f.offset, length: o.f.length}
}

// message returns a cursor over the first message of a kind, following a
// shared message to the object that holds it; nil when there is none.
func (o *Object) message(kind int) (*cursor, error) {
	i := slices.IndexFunc(o.msgs, func(m message) bool { return m.kind == kind })
	if i < 0 {
		return nil, nil
	}
	return o.resolve(o.msgs[i])
}

func (o *Object) resolve(m message) (*cursor, error) {
	c := o.cursor(m.body)
	if m.flags&2 == 0 {
		return c, nil
	}
	return o.shared(c, m.kind)
}

// shared follows a reference to a message in another object's header.
func (o *Object) shared(c *cursor, kind int) (*cursor, error) {
	version, typ := c.u8(), c.u8()
	if version == 1 {
		c.skip(6)
	}
	if version == 3 && typ == 1 {
		return nil, errors.New("messages in the shared message heap are not read")
	}
	addr := c.addr()
	if c.err != nil {
		return nil, c.err
	}
	other, err := o.f.object(addr, o.Path)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(other.msgs, func(m message) bool { return m.kind == kind && m.flags&2 == 0 })
	if i < 0 {
		return nil, fmt.Errorf("shared message %d is not at address %d", kind, addr)
	}
	return o.cursor(other.msgs[i].body), nil
}

func (o *Object) has(kind int) bool {
	return slices.ContainsFunc(o.msgs, func(m message) bool { return m.kind == kind })
}

// IsGroup reports whether the object may have children.
func (o *Object) IsGroup() bool { return o.has(msgSymbols) || o.has(msgLinkInfo) || o.has(msgLink) }

// Link is one name in a group.
type Link struct {
	Name  string
	Order uint64 // in which links were made; 0 where the group does not keep it
	addr  uint64
	soft  string // path of a soft link
}

// Links returns the children of a group, sorted by name.
func (o *Object) Links() ([]Link, error) {
	var links []Link
	if c, err := o.message(msgSymbols); err != nil {
		return nil, err
	} else if c != nil {
		tree, heap := c.addr(), c.addr()
		if c.err != nil {
			return nil, c.err
		}
		if links, err = o.f.symbolTable(tree, heap); err != nil {
			return nil, fmt.Errorf("%s: symbol table: %w", o.Path, err)
		}
	}
	for _, m := range o.msgs {
		if m.kind == msgLink {
			l, err := o.cursor(m.body).link()
			if err != nil {
				return nil, fmt.Errorf("%s: link: %w", o.Path, err)
			}
			links = append(links, l)
		}
	}
	dense, err := o.denseLinks()
	if err != nil {
		return nil, fmt.Errorf("%s: links: %w", o.Path, err)
	}
	links = append(links, dense...)
	slices.SortFunc(links, func(a, b Link) int { return strings.Compare(a.Name, b.Name) })
	return links, nil
}

func (o *Object) denseLinks() ([]Link, error) {
	c, err := o.message(msgLinkInfo)
	if c == nil || err != nil {
		return nil, err
	}
	c.skip(1)
	if c.u8()&1 != 0 {
		c.skip(8)
	}
	heap, tree := c.addr(), c.addr()
	if c.err != nil || heap == undefined || tree == undefined {
		return nil, c.err
	}
	var links []Link
	err = o.f.heapObjects(heap, tree, 5, func(rec *cursor) []byte {
		rec.skip(4) // hash of the name
		return rec.take(rec.left())
	}, func(c *cursor) error {
		l, err := c.link()
		links = append(links, l)
		return err
	})
	return links, err
}

// link parses a link message.
func (c *cursor) link() (Link, error) {
	c.skip(1)
	flags := c.u8()
	kind := uint8(0)
	if flags&8 != 0 {
		kind = c.u8()
	}
	order := uint64(0)
	if flags&4 != 0 {
		order = c.uint(8)
	}
	if flags&0x10 != 0 {
		c.skip(1)
	}
	n := c.uint(1 << (flags & 3))
	l := Link{Name: string(c.take(int(min(n, 1<<31)))), Order: order, addr: undefined}
	switch kind {
	case 0:
		l.addr = c.addr()
	case 1:
		l.soft = string(c.take(c.u16()))
	}
	return l, c.err
}

const maxSoftLinks = 16

// Lookup finds an object by its path from the root.
func (f *File) Lookup(name string) (*Object, error) { return f.lookup(name, 0) }

func (f *File) lookup(name string, depth int) (*Object, error) {
	if depth > maxSoftLinks {
		return nil, fmt.Errorf("%s: soft links lead in a circle", name)
	}
	o, err := f.Root()
	if err != nil {
		return nil, err
	}
	for _, part := range strings.Split(strings.Trim(path.Clean("/"+name), "/"), "/") {
		if part == "" {
			continue
		}
		links, err := o.Links()
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(links, func(l Link) bool { return l.Name == part })
		if i < 0 {
			return nil, &NotFoundError{Path: path.Join(o.Path, part)}
		}
		if o, err = f.follow(o.Path, links[i], depth); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// NotFoundError says that a path does not exist.
type NotFoundError struct{ Path string }

func (e *NotFoundError) Error() string { return e.Path + " is not in the file" }

// Child opens one of the object's links.
func (o *Object) Child(l Link) (*Object, error) { return o.f.follow(o.Path, l, 0) }

func (f *File) follow(parent string, l Link, depth int) (*Object, error) {
	name := path.Join(parent, l.Name)
	if l.soft != "" {
		target := l.soft
		if !strings.HasPrefix(target, "/") {
			target = path.Join(parent, target)
		}
		return f.lookup(target, depth+1)
	}
	if l.addr == undefined {
		return nil, fmt.Errorf("%s: external and user-defined links are not followed", name)
	}
	return f.object(l.addr, name)
}
