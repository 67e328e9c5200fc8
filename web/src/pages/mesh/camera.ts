// The eye that looks at a mesh of radius 1 around the origin; z is up.

export type Vec = readonly [number, number, number];

export interface Eye {
  readonly azimuth: number; // degrees around z, from x towards y
  readonly elevation: number; // degrees above the plane of x and y
  readonly distance: number;
  readonly target: Vec;
}

export const VIEW_ANGLE = 30; // degrees, vertical

/** The corner with the origin faces the viewer; a flat mesh is seen from above. */
export function firstEye(flat: boolean, aspect: number): Eye {
  const [x, y, z] = [-1.15, -1.45, 0.92];
  const distance = 1 / Math.sin((VIEW_ANGLE * Math.PI) / 360) / Math.min(1, Math.max(0.3, aspect));
  return flat
    ? { azimuth: -90, elevation: 89.9, distance, target: [0, 0, 0] }
    : {
        azimuth: (Math.atan2(y, x) * 180) / Math.PI,
        elevation: (Math.atan2(z, Math.hypot(x, y)) * 180) / Math.PI,
        distance,
        target: [0, 0, 0],
      };
}

export function readEye(text: string, initial: Eye): Eye {
  const n = text.split(',').map(Number);
  if (n.length !== 6 || n.some((v) => !Number.isFinite(v))) return initial;
  return clamp({ azimuth: n[0]!, elevation: n[1]!, distance: n[2]!, target: [n[3]!, n[4]!, n[5]!] });
}

export function sameEye(a: Eye, b: Eye): boolean {
  return (
    a.azimuth === b.azimuth &&
    a.elevation === b.elevation &&
    a.distance === b.distance &&
    a.target.every((v, k) => v === b.target[k])
  );
}

export function writeEye(e: Eye): string {
  return [e.azimuth, e.elevation, e.distance, ...e.target]
    .map((v) => String(Math.round(v * 1000) / 1000))
    .join(',');
}

function clamp(e: Eye): Eye {
  return {
    azimuth: ((((e.azimuth + 180) % 360) + 360) % 360) - 180,
    elevation: Math.max(-89.9, Math.min(89.9, e.elevation)),
    distance: Math.max(0.05, Math.min(60, e.distance)),
    target: e.target,
  };
}

/** Unit vectors to the right, up and from the target to the eye. */
export function axes(e: Eye): { right: Vec; up: Vec; back: Vec } {
  const [a, b] = [(e.azimuth * Math.PI) / 180, (e.elevation * Math.PI) / 180];
  return {
    right: [-Math.sin(a), Math.cos(a), 0],
    up: [-Math.sin(b) * Math.cos(a), -Math.sin(b) * Math.sin(a), Math.cos(b)],
    back: [Math.cos(b) * Math.cos(a), Math.cos(b) * Math.sin(a), Math.sin(b)],
  };
}

export function position(e: Eye): Vec {
  const { back } = axes(e);
  return [
    e.target[0] + e.distance * back[0],
    e.target[1] + e.distance * back[1],
    e.target[2] + e.distance * back[2],
  ];
}

export function orbit(e: Eye, right: number, up: number): Eye {
  return clamp({ ...e, azimuth: e.azimuth - right, elevation: e.elevation + up });
}

export function zoom(e: Eye, factor: number): Eye {
  return clamp({ ...e, distance: e.distance * factor });
}

/** Moves the picture by parts of its height. */
export function pan(e: Eye, right: number, up: number): Eye {
  const size = 2 * e.distance * Math.tan((VIEW_ANGLE * Math.PI) / 360);
  const a = axes(e);
  const at = (k: 0 | 1 | 2): number => e.target[k] - size * (right * a.right[k] + up * a.up[k]);
  return { ...e, target: [at(0), at(1), at(2)] };
}

/** The ray through a point of the picture: x and y from −1 to 1, y up. */
export function ray(e: Eye, x: number, y: number, aspect: number): { origin: Vec; direction: Vec } {
  const a = axes(e);
  const h = Math.tan((VIEW_ANGLE * Math.PI) / 360);
  const d = (k: 0 | 1 | 2): number => -a.back[k] + x * h * aspect * a.right[k] + y * h * a.up[k];
  return { origin: position(e), direction: [d(0), d(1), d(2)] };
}

/** Where a point is seen: x and y from −1 to 1; undefined behind the eye. */
export function project(e: Eye, p: Vec, aspect: number): readonly [number, number] | undefined {
  const a = axes(e);
  const o = position(e);
  const v: Vec = [p[0] - o[0], p[1] - o[1], p[2] - o[2]];
  const dot = (q: Vec): number => v[0] * q[0] + v[1] * q[1] + v[2] * q[2];
  const depth = -dot(a.back);
  if (depth <= 1e-6) return undefined;
  const h = depth * Math.tan((VIEW_ANGLE * Math.PI) / 360);
  return [dot(a.right) / (h * aspect), dot(a.up) / h];
}
