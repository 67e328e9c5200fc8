// What the locality page shows, derived from the link, the selection and the
// answers. It changes nothing but the questions it asks; what is drawn of it is
// in drawn.svelte.ts.
import type { LocalityAnswer, MissLevel, PlaceKey } from '../../api/wire';
import type { Size } from '../../base/geometry';
import type { Desk } from '../../frame/context';
import { earlierRun, earlierRuns } from '../../state/before';
import { text } from '../../state/selection';
import {
  adviseAskOf,
  askOf,
  beforeAskOf,
  fileOf,
  KINDS,
  machinesAskOf,
  mapAskOf,
  rowsOf,
  selectedObjects,
  selectionName,
  sharingAskOf,
  whereOf,
} from './asks';
import type { Dragged } from './curve';
import type { MapMark } from './map';
import { placeOf } from './rows';
import { readLocality } from './state';
import type { LocalitySnapshot, LocalityStore, Pairing } from './store';
import type { Earlier } from './words';

const LOW = 820; // px of the window: below it layout and evictions share a pane
const WIDE = 2000;
const TALL = 1200; // as in the styles of the page
const NOWHERE: Size = { w: 0, h: 0 };

export class LocalityModel {
  data = $state.raw<LocalitySnapshot>()!;
  tableSize = $state.raw(NOWHERE);
  fieldsSize = $state.raw(NOWHERE);
  linesSize = $state.raw(NOWHERE);
  curveSize = $state.raw(NOWHERE);
  layoutSize = $state.raw(NOWHERE);
  besideSize = $state.raw(NOWHERE);
  whatIfSize = $state.raw(NOWHERE);
  matrixSize = $state.raw(NOWHERE);
  mapSize = $state.raw(NOWHERE);
  windowHeight = $state(0);
  windowWidth = $state(0);

  // What is pointed at.
  name = $state(''); // object, line or function
  field = $state('');
  curveAt = $state(-1);
  dragged = $state.raw<Dragged | undefined>(); // cache whose triangle is being moved
  octave = $state(-1);
  level = $state(-1); // of the what if
  cell = $state(-1);
  setAt = $state(-1);
  shared = $state(-1); // line that threads share
  mapMark = $state.raw<MapMark | undefined>();
  range = $state.raw<readonly [number, number]>([0, 0]); // of the map, while it is dragged

  readonly now = $derived(readLocality(this.desk.snap.state.options));
  readonly select = $derived(this.desk.snap.state.select);
  readonly ask = $derived(askOf(this.now, whereOf(this.select, this.desk.snap.state.filter)));
  readonly answer = $derived<LocalityAnswer | undefined>(this.data.answer);
  /** Other runs with references, and the one that this is compared with. */
  readonly others = $derived(earlierRuns(this.desk.snap.home?.runs ?? [], this.desk.snap.info?.id));
  readonly earlier = $derived(earlierRun(this.desk.snap.state.options, this.others));
  readonly before = $derived.by<Earlier | undefined>(() => {
    const { data, earlier } = this;
    // Until it has answered there is only what another one said.
    if (!earlier || data.before?.run !== earlier.id) return undefined;
    return { name: earlier.name, answer: data.before.answer };
  });
  /** What says which rows of that run are which here. */
  readonly pairing = $derived.by<Pairing | undefined>(() => {
    const { answer, before, data, now } = this;
    if (!answer || !before || !data.before || KINDS[now.table] === 'thread') return undefined;
    const side = (of: LocalityAnswer): { names: string[]; keys: PlaceKey[] } => {
      const named = rowsOf(of, now.table).flatMap((row) => {
        const key = placeOf(KINDS[now.table], row);
        return key ? [{ name: row.name, key }] : [];
      });
      return { names: named.map((n) => n.name), keys: named.map((n) => n.key) };
    };
    const [a, b] = [side(before.answer), side(answer)];
    return {
      about: `${data.before.run} ${now.table}`,
      ask: { before: data.before.run, a: a.keys, b: b.keys },
      names: { a: a.names, b: b.names },
    };
  });
  readonly namesHere = $derived(
    this.pairing && this.pairing.about === this.data.paired?.about ? this.data.paired.here : undefined,
  );
  readonly low = $derived(this.windowHeight < LOW);
  readonly wide = $derived(this.windowWidth > WIDE);
  /** Objects, fields and lines stand below each other. */
  readonly stacked = $derived(this.wide && this.windowHeight >= TALL && this.now.table === 'objects');

  readonly selecting = $derived(this.select.length > 0 || this.now.pair.length === 2);
  readonly called = $derived(selectionName(this.select, this.now));
  readonly objects = $derived(this.selecting ? selectedObjects(this.answer) : []);
  readonly trying = $derived(this.now.map !== '' || this.now.other !== '' || this.now.set !== '');

  readonly levels = $derived<readonly MissLevel[]>(this.answer?.now.levels ?? []);
  readonly lineBytes = $derived(this.levels[0]?.line_bytes ?? 64);
  /** The level that the table ranks by. */
  readonly by = $derived(Math.min(this.now.by, this.levels.length - 1));
  readonly levelName = $derived(this.levels[this.now.level]?.level ?? 'L1');
  readonly file = $derived(fileOf(this.answer, this.desk.snap.info, this.now.level));
  /** What the layout pane shows: fields need one object with a known structure. */
  readonly pane = $derived.by(() => {
    const { layout } = this.now;
    if (layout === 'evictions' && !this.low) return 'fields';
    if (layout === 'sharing' && (this.answer?.threads ?? 2) < 2) return 'fields';
    return layout === 'fields' && !this.answer?.struct ? 'sets' : layout;
  });
  /** Wide screens have the sets beside the fields. */
  readonly setsBeside = $derived(this.wide && this.pane === 'fields' && this.answer?.sets.why === '');
  readonly setsRoom = $derived(
    this.pane === 'sets' ? this.layoutSize : this.setsBeside ? this.besideSize : NOWHERE,
  );
  /** Where evictions are drawn. */
  readonly matrixRoom = $derived(this.low ? this.layoutSize : this.matrixSize);

  /** The command that proves an advice. */
  readonly command = $derived(
    `isobath advise RUN --prove${this.now.machine ? ` --machine ${this.now.machine}` : ''} -- ./changed`,
  );

  constructor(
    private readonly props: () => { readonly desk: Desk },
    readonly store: LocalityStore,
  ) {
    this.data = store.snapshot;
  }

  get desk(): Desk {
    return this.props().desk;
  }

  /** Asks for what is shown, as long as the component lives that calls it. */
  askServer(): void {
    const { store } = this;
    $effect(() => store.want(this.ask));
    $effect(() => store.wantBefore(this.earlier?.id, beforeAskOf(this.ask)));
    $effect(() => {
      if (this.pairing) store.wantPaired(this.pairing);
    });
    $effect(() => store.wantAdvice(adviseAskOf(this.now)));
    $effect(() => {
      if (this.answer) store.wantMachines(machinesAskOf(this.now, this.wide));
    });
    $effect(() => {
      const { answer, ask, mapSize } = this;
      if (answer && mapSize.w > 0 && mapSize.h > 0) store.wantMap(mapAskOf(ask, answer, mapSize));
    });
    $effect(() => {
      if (this.pane === 'sharing') store.wantSharing(sharingAskOf(text(this.desk.snap.state.filter)));
    });
    $effect(() => {
      if (this.file) store.wantSource(this.file.file);
    });
  }
}
