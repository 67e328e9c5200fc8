package link

import (
	"context"
	"fmt"
	"math"

	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/domain/mesh"
)

// answer handles one request. An error ends the connection; what a client did
// wrong is answered instead.
func (c *client) answer(ctx context.Context, r *request) error {
	p, err := c.dispatch(ctx, r)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		code, text := message(err)
		p = &reply{header: map[string]any{"type": "error", "code": code, "message": text}}
	}
	defer p.claim.Release()
	p.header["re"] = r.ID
	return c.send(p)
}

func (c *client) dispatch(ctx context.Context, r *request) (*reply, error) {
	switch r.Type {
	case "ping", "subscribe":
		return ok(c.s.session.Rev()), nil
	case "check_mesh":
		return c.checkMesh(ctx, r)
	case "select":
		return c.selectRows(ctx, r)
	case "pick":
		return c.pick(ctx, r)
	case "get_field":
		return c.getField(ctx, r)
	case "report":
		return c.report(ctx, r)
	case "hello":
		return nil, faultf("proto", "hello was said already")
	}
	return nil, faultf("unknown_type", "message %q is not known", r.Type)
}

func ok(rev int64) *reply {
	return &reply{header: map[string]any{"type": "ok", "rev": rev}}
}

func changed(rev int64, samples int) *reply {
	p := ok(rev)
	p.header["samples"] = samples
	return p
}

// checkMesh compares the viewer's copy of the mesh with ours, so that a field
// is never drawn on another mesh.
func (c *client) checkMesh(ctx context.Context, r *request) (*reply, error) {
	iteration := int64(-1)
	if r.Iter != nil {
		iteration = *r.Iter
	}
	m, part, err := c.s.session.part(ctx, r.Mesh, r.Domain, r.Level, iteration)
	if err != nil {
		return nil, err
	}
	if r.Cells != part.Cells {
		return nil, faultf("mesh_mismatch", "mesh has %d cells, program has %d", r.Cells, part.Cells)
	}
	if r.Boxes != "" {
		p, err := m.View.At(ctx, stepFor(m.View.Series, iteration))
		if err != nil {
			return nil, err
		}
		if mesh.BoxHash(p.Mesh) != r.Boxes {
			return nil, faultf("mesh_mismatch", "the boxes of the mesh differ from the program's")
		}
	}
	return ok(c.s.session.Rev()), nil
}

func (c *client) selectRows(ctx context.Context, r *request) (*reply, error) {
	s := c.s.session
	if r.Where != nil {
		rev, n, err := s.SetWhere(ctx, *r.Where, c.id)
		if err != nil || r.Ranges == nil {
			return changed(rev, n), err
		}
	}
	ranges := map[string]*[2]float64{}
	for name, ends := range r.Ranges {
		if ends == nil {
			ranges[name] = nil
			continue
		}
		both := [2]float64{math.Inf(-1), math.Inf(1)}
		for i, e := range ends {
			if e != nil {
				both[i] = float64(*e)
			}
		}
		ranges[name] = &both
	}
	op := r.Op
	if op == "" {
		op = "merge"
	}
	rev, n, err := s.Select(ctx, op, ranges, c.id)
	return changed(rev, n), err
}

func (c *client) pick(ctx context.Context, r *request) (*reply, error) {
	var cells []uint32
	for i := range r.Arrays {
		if r.Arrays[i].Name == "cells" {
			var err error
			if cells, err = r.Arrays[i].cellList(); err != nil {
				return nil, err
			}
		}
	}
	rev, n, err := c.s.session.Pick(ctx, r.Mesh, r.Domain, r.Level, r.Op, cells, c.id)
	return changed(rev, n), err
}

func (c *client) getField(ctx context.Context, r *request) (*reply, error) {
	if len(r.Fields) == 0 || len(r.Fields) > maxArrays {
		return nil, faultf("bad_field", "%d fields; want 1 to %d", len(r.Fields), maxArrays)
	}
	if r.Empty != "" && r.Empty != "nan" && r.Empty != "zero" {
		return nil, faultf("bad_field", "empty %q: want nan or zero", r.Empty)
	}
	claim, err := c.claimFields(ctx, r)
	if err != nil {
		return nil, err
	}
	p, err := c.fields(ctx, r)
	if err != nil {
		claim.Release()
		return nil, err
	}
	p.claim = claim
	return p, nil
}

func (c *client) fields(ctx context.Context, r *request) (*reply, error) {
	got, err := c.s.session.Fields(ctx, Want{Mesh: r.Mesh, Domain: r.Domain, Level: r.Level, Mode: r.Mode, Variant: r.Variant,
		From: r.From, Iteration: r.Iter, Fields: r.Fields, Zero: r.Empty == "zero"})
	if err != nil {
		return nil, err
	}
	if size := got.Part.Cells * 8 * len(got.Fields); size > maxBytes {
		return nil, faultf("too_large", "%d fields of %d cells are more than %d bytes; ask for fewer", len(got.Fields), got.Part.Cells, maxBytes)
	}
	p := &reply{header: map[string]any{"type": "field", "rev": got.Rev, "mesh": got.Mesh, "domain": got.Part.Domain, "level": got.Part.Level,
		"mode": got.Window.Mode, "iteration": got.Iteration, "cells": got.Part.Cells, "counts": got.Counts}}
	if v := got.Window.Variant(); v != "" {
		p.header["variant"] = v
	}
	for i, f := range got.Fields {
		if f.Spec.Aggregate == mesh.Count {
			p.arrays = append(p.arrays, counts(r.Fields[i], f.Samples))
		} else {
			p.arrays = append(p.arrays, floats(r.Fields[i], f.Values))
		}
	}
	return p, nil
}

// claimFields claims what fields take until they are sent: their values, the
// numbers as they travel, and the frame of them all.
func (c *client) claimFields(ctx context.Context, r *request) (*budget.Claim, error) {
	m, err := c.s.session.mesh(r.Mesh)
	if err != nil {
		return nil, err
	}
	p, err := m.View.At(ctx, len(m.View.Series.Steps)-1)
	if err != nil {
		return nil, err
	}
	const perCell = 12 + 8 + 8
	claim, err := budget.Take(ctx, fmt.Sprintf("%d fields of %d cells need", len(r.Fields), p.Cells), perCell*int64(p.Cells)*int64(len(r.Fields)))
	if err != nil {
		return nil, faultf("too_large", "%v", err)
	}
	return claim, nil
}

func (c *client) report(ctx context.Context, r *request) (*reply, error) {
	top := r.Top
	if top <= 0 || top > 1000 {
		top = 20
	}
	groups, n, err := c.s.session.Report(ctx, r.By, top)
	if err != nil {
		return nil, err
	}
	p := ok(c.s.session.Rev())
	p.header["type"], p.header["samples"], p.header["groups"] = "report", n, groups
	return p, nil
}
