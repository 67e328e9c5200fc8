// Draws a mesh with three.js on a graphics card: one geometry, seen once or
// twice side by side with different values, from one eye.
import {
  BufferAttribute,
  BufferGeometry,
  Color,
  DataTexture,
  DoubleSide,
  FloatType,
  GLSL3,
  IntType,
  LineBasicMaterial,
  LineDashedMaterial,
  LineSegments,
  Mesh,
  NearestFilter,
  PerspectiveCamera,
  RedFormat,
  RGBAFormat,
  Scene as World,
  ShaderMaterial,
  UnsignedByteType,
  Vector3,
  WebGLRenderer,
  WebGLRenderTarget,
} from 'three';
import { parseColor } from '../../base/color';
import type { Theme } from '../../base/theme';
import { position, ray, sameEye, VIEW_ANGLE, type Eye } from './camera';
import {
  MOST_LINES,
  samePanes,
  SETTLE,
  uncertain,
  type Body,
  type Drawer,
  type Line,
  type Pane,
} from './drawer';
import { FADES, fades } from './edges';
import { pick } from './pick';
import { ramp, STEPS } from './colours';
import { placesOf } from './scales';
import { FRAGMENT, NUMBERS, VERTEX } from './shaders';

const ROW = 2048; // cells in a row of the texture; every card can do that
const NOTHING = -3.4e38; // stands for NaN, which cards need not keep
const STRIPED = 8; // is added to the place of a value that few samples make; the shader knows it

export class Scene implements Drawer {
  private readonly renderer: WebGLRenderer;
  private readonly world = new World();
  private readonly camera = new PerspectiveCamera(VIEW_ANGLE, 1, 0.01, 200);
  private readonly material: ShaderMaterial;
  private readonly faces: Mesh;
  private readonly edges = new LineSegments(
    new BufferGeometry(),
    new LineBasicMaterial({ transparent: true, opacity: 0.55, depthWrite: false, vertexColors: true }),
  );
  private readonly features = new LineSegments(
    new BufferGeometry(),
    new LineBasicMaterial({ transparent: true, opacity: 0.75, vertexColors: true }),
  );
  private readonly box = new LineSegments(new BufferGeometry(), new LineBasicMaterial());
  private readonly front = new LineSegments(
    new BufferGeometry(),
    new LineDashedMaterial({ dashSize: 0.01, gapSize: 0.02 }),
  );
  private readonly numbers: ShaderMaterial;
  private readonly under = new WebGLRenderTarget(1, 1);
  private lines: readonly Line[] = [];
  private readable = true; // pixels of numbers can be read back
  private textures: DataTexture[] = [];
  private panes: readonly Pane[] = [];
  private ramps: readonly DataTexture[] = []; // of amounts, and of changes
  private body: Body | undefined;
  private size = { w: 1, h: 1 };
  private ratio = 1; // pixels of the screen in a CSS pixel
  private frame = 0;
  private settle: ReturnType<typeof setTimeout> | undefined;
  private moving = false;
  private wantEdges = true;
  private eye: Eye | undefined;
  private theme: Theme | undefined;
  readonly software = false;

  constructor(canvas: HTMLCanvasElement) {
    this.renderer = new WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true });
    this.renderer.autoClear = false;
    this.camera.up.set(0, 0, 1);
    this.material = new ShaderMaterial({
      glslVersion: GLSL3,
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      side: DoubleSide,
      polygonOffset: true,
      polygonOffsetFactor: 1,
      polygonOffsetUnits: 1,
      uniforms: {
        values: { value: null },
        ramp: { value: null },
        row: { value: ROW },
        bare: { value: new Vector3() },
        hatch: { value: new Vector3() },
        ground: { value: new Vector3() },
        pixel: { value: 1 },
      },
    });
    this.numbers = new ShaderMaterial({
      glslVersion: GLSL3,
      vertexShader: VERTEX,
      fragmentShader: NUMBERS,
      side: DoubleSide,
    });
    this.faces = new Mesh(new BufferGeometry(), this.material);
    for (const o of this.objects()) {
      o.frustumCulled = false;
      this.world.add(o);
    }
  }

  private objects(): readonly (Mesh | LineSegments)[] {
    return [this.faces, this.edges, this.features, this.box, this.front];
  }

  dispose(): void {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.settle);
    for (const o of this.objects()) o.geometry.dispose();
    this.under.dispose();
    this.numbers.dispose();
    for (const t of this.textures) t.dispose();
    for (const t of this.ramps) t.dispose();
    this.material.dispose();
    this.renderer.dispose();
  }

  setBody(body: Body, box: readonly Line[]): void {
    if (body === this.body && box === this.lines) return;
    this.lines = box;
    if (body !== this.body) {
      this.body = body;
      const { triangles, of, edges, features } = body.geometry;
      const faces = new BufferGeometry();
      faces.setAttribute('position', new BufferAttribute(body.corners, 3));
      const ids = new Int32Array(triangles.length);
      for (let t = 0; t < of.length; t++) ids.fill(of[t]!, 3 * t, 3 * t + 3);
      const cell = new BufferAttribute(ids, 1);
      cell.gpuType = IntType;
      faces.setAttribute('cell', cell);
      swap(this.faces, faces);
      swap(this.edges, lines(body.points, edges));
      swap(this.features, lines(body.points, features));
    }
    this.request();
  }

  /** The lines of the box, dashed where they are in front. */
  private placeBox(eye: Eye): void {
    const o = position(eye);
    const far = (l: Line): number =>
      Math.min(...[l.from, l.to].map((p) => Math.hypot(p[0] - o[0], p[1] - o[1], p[2] - o[2])));
    const nearest = Math.min(...this.lines.map(far));
    const put = (target: LineSegments, list: readonly Line[]): void => {
      const g = new BufferGeometry();
      g.setAttribute(
        'position',
        new BufferAttribute(Float32Array.from(list.flatMap((l) => [...l.from, ...l.to])), 3),
      );
      swap(target, g);
      target.visible = list.length > 0;
    };
    put(
      this.front,
      this.lines.filter((l) => far(l) < 1.001 * nearest),
    );
    put(
      this.box,
      this.lines.filter((l) => far(l) >= 1.001 * nearest),
    );
    if (this.front.visible) this.front.computeLineDistances();
  }

  /**
   * The cell is what a picture of cell numbers, one pixel large, has; where it
   * cannot be read back, the first triangle that a ray meets.
   */
  pick(x: number, y: number): number {
    const { body, eye, size } = this;
    const w = size.w / Math.max(1, this.panes.length);
    if (!body || !eye || x < 0 || y < 0 || x >= w || y >= size.h) return -1;
    if (this.readable) {
      try {
        return this.numberAt(eye, x, y, w);
      } catch {
        this.readable = false;
      }
    }
    const aspect = w / size.h;
    const { origin, direction } = ray(eye, (2 * x) / w - 1, 1 - (2 * y) / size.h, aspect);
    const t = pick(body.corners, origin, direction);
    return t < 0 ? -1 : body.geometry.of[t]!;
  }

  private numberAt(eye: Eye, x: number, y: number, w: number): number {
    const { renderer, camera, faces, size } = this;
    this.look(eye, w / size.h);
    camera.setViewOffset(w, size.h, Math.floor(x), Math.floor(y), 1, 1);
    const others = this.objects().filter((o) => o !== faces && o.visible);
    for (const o of others) o.visible = false;
    faces.material = this.numbers;
    const bytes = new Uint8Array(4);
    try {
      renderer.setRenderTarget(this.under);
      renderer.setClearColor(0x000000, 0);
      renderer.clear();
      renderer.render(this.world, camera);
      renderer.readRenderTargetPixels(this.under, 0, 0, 1, 1, bytes);
    } finally {
      renderer.setRenderTarget(null);
      faces.material = this.material;
      for (const o of others) o.visible = true;
      camera.clearViewOffset();
    }
    return (bytes[0]! | (bytes[1]! << 8) | (bytes[2]! << 16)) - 1;
  }

  setPanes(panes: readonly Pane[]): void {
    if (samePanes(this.panes, panes)) return;
    this.textures = panes.map((p, i) => {
      const was = this.textures[i];
      const pane = this.panes[i];
      if (was && pane && samePanes([pane], [p])) return was;
      was?.dispose();
      return placeTexture(p);
    });
    this.panes = panes;
    this.request();
  }

  setTheme(theme: Theme): void {
    if (theme === this.theme) return;
    this.theme = theme;
    const u = this.material.uniforms;
    for (const t of this.ramps) t.dispose();
    this.ramps = [false, true].map((signed) => {
      const t = new DataTexture(ramp(theme, { signed }), STEPS, 1, RGBAFormat, UnsignedByteType);
      t.needsUpdate = true;
      return t;
    });
    (u['ground']!.value as Vector3).set(...unit(theme.bg));
    (u['bare']!.value as Vector3).set(...unit(theme.dark ? '#2e323b' : '#dde1e6'));
    (u['hatch']!.value as Vector3).set(...unit(theme.dark ? '#474d59' : '#b9c0c9'));
    (this.edges.material as LineBasicMaterial).color = new Color(theme.dark ? '#000000' : '#ffffff');
    (this.features.material as LineBasicMaterial).color = new Color(theme.text);
    (this.box.material as LineBasicMaterial).color = new Color(theme['hair-strong']);
    (this.front.material as LineDashedMaterial).color = new Color(theme.line);
    this.request();
  }

  setSize(w: number, h: number, ratio: number): void {
    if (w === this.size.w && h === this.size.h && ratio === this.ratio) return;
    this.size = { w, h };
    this.ratio = ratio;
    this.request();
  }

  setEdges(on: boolean): void {
    if (on === this.wantEdges) return;
    this.wantEdges = on;
    this.request();
  }

  setEye(eye: Eye, moving: boolean): void {
    if (this.eye && moving === this.moving && sameEye(eye, this.eye)) return;
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

  private look(eye: Eye, aspect: number): void {
    this.camera.aspect = aspect;
    this.camera.position.set(...position(eye));
    this.camera.lookAt(...eye.target);
    this.camera.near = Math.max(0.005, eye.distance - 4);
    this.camera.far = eye.distance + 6;
    this.camera.updateProjectionMatrix();
  }

  private request(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.draw());
  }

  private draw(): void {
    this.frame = 0;
    const { eye, body, theme, size } = this;
    if (!eye || !body || !theme || size.w < 2 || size.h < 2) return;
    const began = performance.now();
    const ratio = this.moving ? Math.min(1, this.ratio) : this.ratio;
    if (this.renderer.getPixelRatio() !== ratio) this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(size.w, size.h, false);
    const n = Math.max(1, this.panes.length);
    const w = size.w / n;
    this.look(eye, w / size.h);
    this.placeBox(eye);
    const { edges, features } = body.geometry;
    this.edges.visible = this.wantEdges && edges.length <= 2 * MOST_LINES;
    this.features.visible = features.length <= 2 * MOST_LINES;
    if (this.edges.visible) fade(this.edges, fades(body, edges, body.besideEdges, eye, size.h));
    if (this.features.visible) fade(this.features, fades(body, features, body.besideFeatures, eye, size.h));
    const u = this.material.uniforms;
    u['pixel']!.value = ratio;
    this.renderer.setClearColor(new Color(theme.bg), 1);
    this.renderer.setScissorTest(false);
    this.renderer.clear();
    this.renderer.setScissorTest(true);
    this.panes.forEach((pane, i) => {
      u['values']!.value = this.textures[i];
      u['ramp']!.value = this.ramps[pane.scale.signed ? 1 : 0];
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
  const ends = new Float32Array(3 * index.length);
  for (let i = 0; i < index.length; i++) ends.set(points.subarray(3 * index[i]!, 3 * index[i]! + 3), 3 * i);
  g.setAttribute('position', new BufferAttribute(ends, 3));
  g.setAttribute('color', new BufferAttribute(new Float32Array(4 * index.length).fill(1), 4));
  return g;
}

/** Lets each line be as strong as there is room beside it. */
function fade(o: LineSegments, strength: Uint8Array): void {
  const colour = o.geometry.getAttribute('color') as BufferAttribute;
  for (let i = 0; i < strength.length; i++) {
    colour.setW(2 * i, strength[i]! / FADES);
    colour.setW(2 * i + 1, strength[i]! / FADES);
  }
  colour.needsUpdate = true;
}

function unit(colour: string): [number, number, number] {
  const [r, g, b] = parseColor(colour);
  return [r / 255, g / 255, b / 255];
}

function placeTexture(pane: Pane): DataTexture {
  const values = placesOf(pane.values, pane.scale);
  const rows = Math.max(1, Math.ceil(values.length / ROW));
  const data = new Float32Array(ROW * rows);
  for (let i = 0; i < values.length; i++) {
    const v = values[i]!;
    data[i] = Number.isNaN(v) ? NOTHING : uncertain(pane, i) ? v + STRIPED : v;
  }
  const t = new DataTexture(data, ROW, rows, RedFormat, FloatType);
  t.minFilter = NearestFilter;
  t.magFilter = NearestFilter;
  t.needsUpdate = true;
  return t;
}
