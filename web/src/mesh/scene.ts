// Draws a mesh with three.js: one geometry, seen once or twice side by side
// with different values, from one eye.
import {
  BufferAttribute, BufferGeometry, Color, DataTexture, DoubleSide, FloatType, GLSL3, IntType, LineBasicMaterial, LineSegments, Mesh, NearestFilter,
  PerspectiveCamera, RedFormat, RGBAFormat, Scene as World, ShaderMaterial, UnsignedByteType, Vector2, Vector3, WebGLRenderer,
} from 'three';
import { parseColor } from '../base/color';
import type { Theme } from '../base/theme';
import { position, VIEW_ANGLE, type Eye, type Vec } from './camera';
import type { Geometry } from './picture';
import { ramp, STEPS, type Scale } from './scale';
import { FRAGMENT, VERTEX } from './shaders';

const ROW = 2048; // cells in a row of the texture; every card can do that
const NOTHING = -3.4e38; // stands for NaN, which cards need not keep
const MOST_LINES = 200_000; // more of them cover the faces, and take seconds in software
const SETTLE = 160; // ms without motion until the picture is drawn at full size

/** What one picture shows. */
export interface Pane {
  readonly values: Float64Array;
  readonly scale: Scale;
}

/** A mesh moved and scaled to radius 1 around the origin. */
export class Body {
  readonly points: Float32Array;
  readonly corners: Float32Array; // nine numbers a triangle
  readonly cellSize: number; // of a typical face, in units of the radius

  constructor(readonly geometry: Geometry, readonly middle: Vec, readonly radius: number) {
    const { positions, triangles } = geometry;
    this.points = new Float32Array(positions.length);
    for (let i = 0; i < positions.length; i++) this.points[i] = (positions[i]! - middle[i % 3]!) / radius;
    this.corners = new Float32Array(3 * triangles.length);
    for (let i = 0; i < triangles.length; i++) for (let k = 0; k < 3; k++) this.corners[3 * i + k] = this.points[3 * triangles[i]! + k]!;
    this.cellSize = Math.sqrt(area(this.corners) / Math.max(1, geometry.polygons));
  }

  point(i: number): Vec {
    return [this.points[3 * i]!, this.points[3 * i + 1]!, this.points[3 * i + 2]!];
  }
}

function area(c: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < c.length; i += 9) {
    const ux = c[i + 3]! - c[i]!, uy = c[i + 4]! - c[i + 1]!, uz = c[i + 5]! - c[i + 2]!;
    const vx = c[i + 6]! - c[i]!, vy = c[i + 7]! - c[i + 1]!, vz = c[i + 8]! - c[i + 2]!;
    sum += Math.hypot(uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx) / 2;
  }
  return sum;
}

export class Scene {
  private readonly renderer: WebGLRenderer;
  private readonly world = new World();
  private readonly camera = new PerspectiveCamera(VIEW_ANGLE, 1, 0.01, 200);
  private readonly material: ShaderMaterial;
  private readonly faces: Mesh;
  private readonly edges = new LineSegments(new BufferGeometry(), new LineBasicMaterial({ transparent: true, opacity: 0.55, depthWrite: false }));
  private readonly features = new LineSegments(new BufferGeometry(), new LineBasicMaterial({ transparent: true, opacity: 0.75 }));
  private readonly box = new LineSegments(new BufferGeometry(), new LineBasicMaterial());
  private textures: DataTexture[] = [];
  private panes: readonly Pane[] = [];
  private rampTexture: DataTexture | undefined;
  private body: Body | undefined;
  private size = { w: 1, h: 1 };
  private frame = 0;
  private settle: ReturnType<typeof setTimeout> | undefined;
  private moving = false;
  private wantEdges = true;
  private eye: Eye | undefined;
  private theme: Theme | undefined;
  readonly software: boolean;
  readonly name: string; // of the renderer, for people

  constructor(canvas: HTMLCanvasElement) {
    this.renderer = new WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true });
    this.renderer.autoClear = false;
    const gl = this.renderer.getContext();
    const debug = gl.getExtension('WEBGL_debug_renderer_info');
    this.name = debug ? String(gl.getParameter(debug.UNMASKED_RENDERER_WEBGL)) : '';
    this.software = /swiftshader|llvmpipe|software/i.test(this.name);
    this.camera.up.set(0, 0, 1);
    this.material = new ShaderMaterial({
      glslVersion: GLSL3, vertexShader: VERTEX, fragmentShader: FRAGMENT, side: DoubleSide, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1,
      uniforms: {
        values: { value: null }, ramp: { value: null }, row: { value: ROW }, range: { value: new Vector2(0, 1) }, logarithmic: { value: false },
        bare: { value: new Vector3() }, hatch: { value: new Vector3() }, pixel: { value: 1 },
      },
    });
    this.faces = new Mesh(new BufferGeometry(), this.material);
    for (const o of [this.faces, this.edges, this.features, this.box]) {
      o.frustumCulled = false;
      this.world.add(o);
    }
  }

  dispose(): void {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.settle);
    for (const o of [this.faces, this.edges, this.features, this.box]) o.geometry.dispose();
    for (const t of this.textures) t.dispose();
    this.rampTexture?.dispose();
    this.material.dispose();
    this.renderer.dispose();
  }

  setBody(body: Body, box: readonly Vec[]): void {
    this.body = body;
    const { triangles, cells, edges, features } = body.geometry;
    const faces = new BufferGeometry();
    faces.setAttribute('position', new BufferAttribute(body.corners, 3));
    const ids = new Int32Array(triangles.length);
    for (let t = 0; t < cells.length; t++) ids.fill(cells[t]!, 3 * t, 3 * t + 3);
    const cell = new BufferAttribute(ids, 1);
    cell.gpuType = IntType;
    faces.setAttribute('cell', cell);
    swap(this.faces, faces);
    swap(this.edges, lines(body.points, edges));
    swap(this.features, lines(body.points, features));
    const corners = new BufferGeometry();
    corners.setAttribute('position', new BufferAttribute(Float32Array.from(box.flat()), 3));
    swap(this.box, corners);
    this.request();
  }

  setPanes(panes: readonly Pane[]): void {
    this.textures = panes.map((p, i) => {
      const was = this.textures[i];
      if (was && this.panes[i]?.values === p.values) return was;
      was?.dispose();
      return valueTexture(p.values);
    });
    this.panes = panes;
    this.request();
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
    const u = this.material.uniforms;
    this.rampTexture?.dispose();
    this.rampTexture = new DataTexture(ramp(theme.dark), STEPS, 1, RGBAFormat, UnsignedByteType);
    this.rampTexture.needsUpdate = true;
    u['ramp']!.value = this.rampTexture;
    (u['bare']!.value as Vector3).set(...unit(theme.dark ? '#2e323b' : '#dde1e6'));
    (u['hatch']!.value as Vector3).set(...unit(theme.dark ? '#474d59' : '#b9c0c9'));
    (this.edges.material as LineBasicMaterial).color = new Color(theme.dark ? '#000000' : '#ffffff');
    (this.features.material as LineBasicMaterial).color = new Color(theme.text);
    (this.box.material as LineBasicMaterial).color = new Color(theme['hair-strong']);
    this.request();
  }

  setSize(w: number, h: number): void {
    this.size = { w, h };
    this.request();
  }

  setEdges(on: boolean): void {
    this.wantEdges = on;
    this.request();
  }

  /** Moves the eye; while it moves, a picture drawn in software is half the size. */
  setEye(eye: Eye, moving: boolean): void {
    this.eye = eye;
    clearTimeout(this.settle);
    this.moving = moving;
    if (moving) {
      this.settle = setTimeout(() => {
        this.moving = false;
        this.request();
      }, SETTLE);
    }
    this.request();
  }

  private request(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.draw());
  }

  private draw(): void {
    this.frame = 0;
    const { eye, body, theme, size } = this;
    if (!eye || !body || !theme || size.w < 2 || size.h < 2) return;
    const began = performance.now();
    const ratio = this.moving && this.software ? 0.5 : devicePixelRatio;
    if (this.renderer.getPixelRatio() !== ratio) this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(size.w, size.h, false);
    const n = Math.max(1, this.panes.length);
    const w = size.w / n;
    this.camera.aspect = w / size.h;
    this.camera.position.set(...position(eye));
    this.camera.lookAt(...eye.target);
    this.camera.near = Math.max(0.005, eye.distance - 4);
    this.camera.far = eye.distance + 6;
    this.camera.updateProjectionMatrix();
    const pixels = (body.cellSize * size.h) / (2 * eye.distance * Math.tan((VIEW_ANGLE * Math.PI) / 360));
    this.edges.visible = this.wantEdges && pixels >= 5 && body.geometry.edges.length <= 2 * MOST_LINES;
    this.features.visible = body.geometry.features.length <= 2 * MOST_LINES;
    const u = this.material.uniforms;
    u['pixel']!.value = ratio;
    this.renderer.setClearColor(new Color(theme.bg), 1);
    this.renderer.setScissorTest(false);
    this.renderer.clear();
    this.renderer.setScissorTest(true);
    this.panes.forEach((p, i) => {
      u['values']!.value = this.textures[i];
      (u['range']!.value as Vector2).set(p.scale.min, p.scale.max);
      u['logarithmic']!.value = p.scale.log;
      this.renderer.setViewport(i * w, 0, w, size.h);
      this.renderer.setScissor(i * w, 0, w, size.h);
      this.renderer.render(this.world, this.camera);
    });
    performance.measure('draw Mesh', { start: began, end: performance.now() });
  }
}

function swap(o: Mesh | LineSegments, next: BufferGeometry): void {
  o.geometry.dispose();
  o.geometry = next;
}

function lines(points: Float32Array, index: Uint32Array): BufferGeometry {
  const g = new BufferGeometry();
  g.setAttribute('position', new BufferAttribute(points, 3));
  g.setIndex(new BufferAttribute(index, 1));
  return g;
}

function unit(colour: string): [number, number, number] {
  const [r, g, b] = parseColor(colour);
  return [r / 255, g / 255, b / 255];
}

function valueTexture(values: Float64Array): DataTexture {
  const rows = Math.max(1, Math.ceil(values.length / ROW));
  const data = new Float32Array(ROW * rows);
  for (let i = 0; i < values.length; i++) {
    const v = values[i]!;
    data[i] = Number.isNaN(v) ? NOTHING : v;
  }
  const t = new DataTexture(data, ROW, rows, RedFormat, FloatType);
  t.minFilter = NearestFilter;
  t.magFilter = NearestFilter;
  t.needsUpdate = true;
  return t;
}
