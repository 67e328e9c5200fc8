// Package domain shows where in the simulated domain the cost arises: meshes,
// projections, links to mesh viewers.
//
// In: mesh files, samples with their indices.
//
// Out: cells with cost, correlations with physics, fields for ParaView and
// VisIt.
//
// Imported by: app and the commands.
//
//   - mesh: opening, placing, projecting, relating, extracting
//   - link: the protocol that viewers speak
package domain
