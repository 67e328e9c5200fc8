// The code viewer's editor, loaded on first use: text, line numbers, a gutter a
// column, folded stretches, no syntax hues. It lives in a shadow root, because
// there its styles are adopted sheets, which the page's content policy allows.
import { cpp } from '@codemirror/lang-cpp';
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from '@codemirror/language';
import { fortran } from '@codemirror/legacy-modes/mode/fortran';
import { go } from '@codemirror/legacy-modes/mode/go';
import {
  EditorState,
  RangeSet,
  StateEffect,
  StateField,
  type Extension,
  type Range,
  type Text,
  type Transaction,
} from '@codemirror/state';
import {
  Decoration,
  EditorView,
  gutter,
  GutterMarker,
  lineNumbers,
  showPanel,
  WidgetType,
  type DecorationSet,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { count, short, plural } from '../../base/format';
import { folds, kinLine, largest, type Code, type CodeColumn, type Fold, type Kin } from './code';

export interface Editor {
  /** Shows the text anew only if it is another. */
  show(code: Code): void;
  reveal(line: number): void;
  /** Lines on screen, in order. */
  visible(): number[];
  focus(): void;
  destroy(): void;
}

export interface Hands {
  readonly onclick: (line: number, e: MouseEvent) => void;
  readonly onhover: (line: number | undefined) => void;
  readonly onkey: (e: KeyboardEvent) => boolean;
}

const NUMBERS = 54; // px of the line numbers
const WIDE_NUMBERS = 78; // of addresses in their place
const CELL = 50; // px of a column's bars
const LINE = 18; // px of a line
const SWATCH = 12;
const NARROW = 38; // px of a number without a bar
const AROUND = 30; // px of a bar around a centre line
const WIDE = 2 * NARROW + AROUND; // px of one column in place of three

const setCode = StateEffect.define<Code>();
const openFold = StateEffect.define<number>(); // a line of the fold

interface Shown {
  readonly code: Code | undefined;
  readonly most: readonly number[]; // a column
  readonly opened: readonly number[]; // lines whose folds were opened by hand
  readonly folded: readonly Fold[];
  readonly marks: DecorationSet;
}

const NOTHING: Shown = { code: undefined, most: [], opened: [], folded: [], marks: Decoration.none };

const shown = StateField.define<Shown>({
  create: () => NOTHING,
  update: (value, tr) => {
    const code = tr.effects.findLast((e) => e.is(setCode))?.value as Code | undefined;
    const opened = tr.effects.filter((e) => e.is(openFold)).map((e) => e.value as number);
    if (code === undefined && opened.length === 0) return value;
    return arrange(code ?? value.code, [...value.opened, ...opened], tr);
  },
  provide: (f) => EditorView.decorations.from(f, (s) => s.marks),
});

function arrange(code: Code | undefined, opened: readonly number[], tr: Transaction): Shown {
  if (!code) return NOTHING;
  const doc = tr.newDoc;
  const folded = folds(code, doc.lines).filter((f) => !opened.some((l) => l >= f.from && l <= f.to));
  const hidden = folded.map((f) =>
    Decoration.replace({ widget: new FoldWidget(f), block: true }).range(
      doc.line(f.from).from,
      doc.line(f.to).to,
    ),
  );
  const marks = RangeSet.of([...hidden, ...toned(code, doc)], true);
  return { code, most: code.columns.map(largest), opened, folded, marks };
}

function toned(code: Code, doc: Text): Range<Decoration>[] {
  return [...(code.tones ?? [])]
    .filter(([line]) => line >= 1 && line <= doc.lines)
    .map(([line, tone]) => Decoration.line({ class: tone }).range(doc.line(line).from));
}

/** The words in place of a folded stretch; a click opens it. */
class FoldWidget extends WidgetType {
  constructor(private readonly fold: Fold) {
    super();
  }

  override eq(other: FoldWidget): boolean {
    return other.fold.from === this.fold.from && other.fold.to === this.fold.to;
  }

  // What is not measured yet has its true height all the same: text does not jump when it is.
  override get estimatedHeight(): number {
    return LINE;
  }

  override toDOM(view: EditorView): HTMLElement {
    const button = document.createElement('button');
    const { from, to } = this.fold;
    button.className = 'fold';
    button.textContent = `⋯ ${plural(to - from + 1, 'line')}`;
    button.setAttribute('aria-label', `Show lines ${from} to ${to}`);
    button.addEventListener('click', () => view.dispatch({ effects: openFold.of(from) }));
    return button;
  }

  override ignoreEvent(): boolean {
    return true;
  }
}

class NumberMark extends GutterMarker {
  constructor(
    private readonly column: CodeColumn,
    private readonly line: number,
    private readonly most: number,
  ) {
    super();
  }

  private get value(): number {
    return this.column.values.get(this.line)!;
  }

  override eq(other: NumberMark): boolean {
    return other.column === this.column && other.line === this.line;
  }

  override toDOM(): Node {
    const { narrow, wide } = this.column;
    if (narrow === 'around') return this.around();
    const box = element('div', narrow ? 'number plain' : wide ? 'number wide' : 'number');
    box.title = `${count(this.value)} ${this.column.head}`;
    if (narrow) {
      box.textContent = (this.column.write ?? short)(this.value);
      return box;
    }
    const colour = this.column.colour?.(this.line);
    const bar = element('i');
    bar.style.width = this.width(this.value);
    const label = element('span');
    label.textContent = (this.column.write ?? short)(this.value);
    box.append(bar, label);
    const hovered = this.column.hovered?.get(this.line) ?? 0;
    if (hovered > 0) {
      const strip = element('u');
      strip.style.width = this.width(hovered);
      box.append(strip);
    }
    if (colour) {
      bar.style.backgroundColor = `color-mix(in srgb, ${colour} 25%, transparent)`;
      const swatch = element('b');
      swatch.style.backgroundColor = colour;
      box.append(swatch);
    }
    return box;
  }

  /** To the left of the line below zero, to the right above. */
  private around(): Node {
    const box = element('div', 'around');
    box.title = `${this.value < 0 ? '−' : '+'}${count(Math.abs(this.value))} ${this.column.head}`;
    const bar = element('i');
    const half = AROUND / 2 - 2;
    const w = Math.max(1.5, half * Math.min(1, this.most > 0 ? Math.abs(this.value) / this.most : 0));
    bar.style.width = `${w}px`;
    bar.style.left = `${this.value < 0 ? AROUND / 2 - w : AROUND / 2}px`;
    bar.style.backgroundColor = this.column.colour?.(this.line) ?? 'var(--selected-bar)';
    box.append(bar);
    return box;
  }

  private width(v: number): string {
    const room = (this.column.wide ? WIDE : CELL) - 4;
    return `${Math.max(2, room * Math.min(1, this.most > 0 ? v / this.most : 0))}px`;
  }
}

function element(name: string, className = ''): HTMLElement {
  const e = document.createElement(name);
  if (className) e.className = className;
  return e;
}

/** One gutter a column that is not for tables alone; `at` counts all columns. */
function numbersGutter(at: number, kind: string): Extension {
  return gutter({
    class: `numbers ${kind}`,
    lineMarker: (view, block) => {
      const { code, most } = view.state.field(shown);
      const column = code?.columns[at];
      const line = view.state.doc.lineAt(block.from).number;
      const value = column?.values.get(line) ?? 0;
      const drawn = column?.narrow === 'around' ? value !== 0 : value > 0;
      return column && drawn ? new NumberMark(column, line, most[at]!) : null;
    },
    lineMarkerChange: (u) => u.transactions.some((t) => t.effects.some((e) => e.is(setCode))),
  });
}

/** The heads of two columns or more, and of one in their place; one alone is explained by the pane's header. */
function heads(code: Code): Extension {
  const seen = code.columns.filter((c) => !c.tableOnly);
  if (seen.length < 2 && !seen.some((c) => c.wide)) return [];
  return showPanel.of(() => {
    const dom = element('div', 'heads');
    dom.style.paddingLeft = `${numbersWidth(code)}px`;
    for (const c of seen) {
      const head = element('span');
      head.textContent = c.narrow === 'around' ? 'Δ' : c.head;
      head.title = c.provenance ? `${c.head}, ${c.provenance}` : c.head;
      head.className = kindOf(c);
      dom.append(head);
    }
    return { dom, top: true };
  });
}

/** The class of a column's gutter and head. */
function kindOf(c: CodeColumn): string {
  return c.narrow ? `narrow-${c.narrow}` : c.wide ? 'wide' : c.colour ? 'swatches' : '';
}

/** Px of what stands before the lines. */
function numbersWidth({ numbering }: Code): number {
  if (!numbering) return NUMBERS;
  return numbering.digits === undefined ? WIDE_NUMBERS : Math.max(28, 8 + 7 * numbering.digits);
}

const weights = HighlightStyle.define([
  { tag: [tags.keyword, tags.controlKeyword, tags.modifier, tags.typeName], fontWeight: '600' },
  { tag: tags.comment, color: 'var(--muted)', fontStyle: 'italic' },
  { tag: tags.processingInstruction, color: 'var(--muted)' },
]);

const look = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'var(--bg)', color: 'var(--text)', fontSize: '11.5px' },
  '.cm-scroller': {
    fontFamily: '"JetBrains Mono", ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace',
    lineHeight: `${LINE}px`,
    fontVariantLigatures: 'none',
  },
  '.cm-content': { padding: '0' },
  '.cm-line': { padding: '0 12px 0 8px' },
  '.cm-gutters': { backgroundColor: 'var(--bg)', color: 'var(--muted)', border: '0' },
  '.cm-lineNumbers .cm-gutterElement': {
    minWidth: `${NUMBERS}px`,
    padding: '0 6px 0 0',
    boxSizing: 'border-box',
  },
  '.cm-panels': { backgroundColor: 'var(--bg)', color: 'var(--muted)', border: '0' },
  '.heads': { display: 'flex', paddingLeft: `${NUMBERS}px`, fontSize: '10.5px', lineHeight: '16px' },
  '.heads span': {
    width: `${CELL}px`,
    overflow: 'hidden',
    textOverflow: 'ellipsis',
    textAlign: 'right',
    paddingRight: '3px',
    boxSizing: 'border-box',
    whiteSpace: 'nowrap',
  },
  '.numbers .cm-gutterElement, .heads span': { width: `${CELL}px` },
  '.swatches .cm-gutterElement, .heads .swatches': { width: `${CELL + SWATCH}px` },
  '.narrow-number .cm-gutterElement, .heads .narrow-number': { width: `${NARROW}px` },
  '.narrow-around .cm-gutterElement, .heads .narrow-around': { width: `${AROUND}px` },
  '.wide .cm-gutterElement, .heads .wide': { width: `${WIDE}px` },
  '.heads .narrow-around': { textAlign: 'center', paddingRight: '0' },
  '.around': { position: 'relative', height: `${LINE}px`, width: `${AROUND}px` },
  '.around::after': {
    content: '""',
    position: 'absolute',
    left: `${AROUND / 2}px`,
    top: '0',
    bottom: '0',
    borderLeft: '1px solid var(--line)',
  },
  '.around i': { position: 'absolute', top: '3px', bottom: '3px' },
  '.number': {
    position: 'relative',
    height: `${LINE}px`,
    width: `${CELL - 2}px`,
    textAlign: 'right',
    fontSize: '10.5px',
    color: 'var(--text)',
  },
  '.number.wide': { width: `${WIDE - 2}px` },
  '.number.plain': { width: `${NARROW - 4}px`, color: 'var(--muted)', fontSize: '10px' },
  '.number i': {
    position: 'absolute',
    right: '0',
    top: '2px',
    bottom: '2px',
    backgroundColor: 'var(--selected-bar)',
    borderRadius: '2px',
  },
  '.number u': {
    position: 'absolute',
    right: '0',
    bottom: '2px',
    height: '4px',
    backgroundColor: 'var(--hover)',
  },
  '.number b': {
    position: 'absolute',
    left: '100%',
    top: '3px',
    width: '8px',
    height: '12px',
    marginLeft: '3px',
    borderRadius: '2px',
  },
  '.number span': { position: 'relative', paddingRight: '3px' },
  '.here': { backgroundColor: 'var(--selected-tint)' },
  '.pointed': { backgroundColor: 'var(--hover-tint)' },
  '.fold': {
    display: 'block',
    width: '100%',
    padding: '0 0 0 8px',
    border: '0',
    textAlign: 'left',
    font: 'inherit',
    color: 'var(--muted)',
    backgroundColor: 'var(--surface)',
    cursor: 'pointer',
  },
  '&.cm-focused': { outline: '2px solid var(--focus)', outlineOffset: '-2px' },
  '.cm-cursor': { display: 'none' },
});

function languageOf(file: string): Extension {
  if (/\.(c|cc|cpp|cxx|h|hh|hpp|hxx|cu|inl)$/i.test(file)) return cpp();
  if (/\.(f|for|f77|f90|f95|f03|f08)$/i.test(file)) return StreamLanguage.define(fortran);
  return /\.go$/i.test(file) ? StreamLanguage.define(go) : [];
}

function pointer({ onclick, onhover, onkey }: Hands): Extension {
  return EditorView.domEventHandlers({
    click: (e, view) => {
      const at = view.posAtCoords({ x: e.clientX, y: e.clientY }, false);
      onclick(view.state.doc.lineAt(at).number, e);
      return false;
    },
    mousemove: (e, view) => {
      const block = view.lineBlockAtHeight(e.clientY - view.documentTop);
      onhover(view.state.doc.lineAt(block.from).number);
      return false;
    },
    keydown: (e) => onkey(e),
    mouseleave: () => {
      onhover(undefined);
      return false;
    },
  });
}

/** What stands before a line: its number, or what the code has for that. */
function numbers(code: Code): Extension {
  const { numbering } = code;
  if (!numbering) return lineNumbers();
  const of = (line: number, state: EditorState): string =>
    (state.field(shown, false)?.code?.numbering ?? numbering).of(Math.min(line, state.doc.lines));
  return [
    lineNumbers({ formatNumber: of }),
    EditorView.theme({ '.cm-lineNumbers .cm-gutterElement': { minWidth: `${numbersWidth(code)}px` } }),
  ];
}

function extensionsOf(code: Code, hands: Hands): Extension {
  return [
    numbers(code),
    code.columns.map((c, i) => (c.tableOnly ? [] : numbersGutter(i, kindOf(c)))),
    heads(code),
    shown,
    look,
    syntaxHighlighting(weights),
    languageOf(code.file),
    pointer(hands),
    EditorState.readOnly.of(true),
    EditorView.editable.of(false),
    EditorView.contentAttributes.of({
      tabindex: '0',
      'aria-label': `${code.numbering?.text ?? 'Source'} of ${code.file}`,
    }),
  ];
}

/** What the editor's extensions depend on: with another of these it is set up anew. */
function setUpOf(code: Code): string {
  const gutters = code.columns.map((c) => [c.head, c.tableOnly ?? false, kindOf(c)]);
  return JSON.stringify([code.file, code.numbering?.head ?? '', numbersWidth(code), gutters]);
}

/** The line that was at the top when texts of one kin began to replace each other. */
interface Anchor {
  readonly kin: Kin;
  readonly line: number;
  readonly below: number; // px of it that are above the top
  readonly top: number; // where that scrolled to: whoever scrolls on has another
}

export function createEditor(host: HTMLElement, hands: Hands): Editor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const view = new EditorView({ root, parent: root });
  let text: string | undefined;
  let setUp = '';
  let kin: Kin | undefined;
  let anchor: Anchor | undefined;

  /** Measures what is due, and scrolls as that says. */
  const settle = (): unknown => view.lineBlockAtHeight(0);

  function anchored(own: Kin): Anchor {
    settle();
    const top = view.scrollDOM.scrollTop;
    if (anchor && anchor.kin.of === own.of && Math.abs(anchor.top - top) < 1) return anchor;
    const block = view.lineBlockAtHeight(top);
    return { kin: own, line: view.state.doc.lineAt(block.from).number, below: top - block.top, top };
  }

  /** Puts a text in the place of one of its kin: the view and what it has measured stay. */
  function replace(code: Code, from: Anchor, to: Kin): void {
    const { doc } = view.state;
    view.dispatch({
      ...(text !== code.text && { changes: { from: 0, to: doc.length, insert: code.text } }),
      effects: [StateEffect.reconfigure.of(extensionsOf(code, hands)), setCode.of(code)],
    });
    // The editor keeps a line of its own choice in place when it measures next; that comes first.
    settle();
    const now = view.state.doc;
    const line = kinLine(from.kin, from.line, to, now.lines);
    view.scrollDOM.scrollTop = Math.round(view.lineBlockAt(now.line(line).from).top + from.below);
    anchor = { ...from, top: view.scrollDOM.scrollTop };
  }

  return {
    show: (code) => {
      const anew = text !== code.text || setUp !== setUpOf(code);
      if (anew && kin && code.kin?.of === kin.of) replace(code, anchored(kin), code.kin);
      else {
        if (anew)
          view.setState(EditorState.create({ doc: code.text, extensions: extensionsOf(code, hands) }));
        view.dispatch({ effects: setCode.of(code) });
      }
      [text, setUp, kin] = [code.text, setUpOf(code), code.kin];
    },
    reveal: (line) => {
      if (line < 1 || line > view.state.doc.lines) return;
      // The editor's own way there scrolls by what lines were guessed to be high and
      // corrects itself, which ends some pixels beside; what it has measured does not.
      view.requestMeasure({
        key: view,
        read: () => {
          if (line > view.state.doc.lines) return undefined;
          // In the middle, but with whole lines from the top on: half of one under the heads is hard to read.
          const above = Math.max(0, Math.floor((view.scrollDOM.clientHeight - LINE) / 2 / LINE)) * LINE;
          return Math.max(0, Math.round(view.lineBlockAt(view.state.doc.line(line).from).top) - above);
        },
        write: (top) => {
          if (top !== undefined) view.scrollDOM.scrollTop = top;
        },
      });
    },
    visible: () => visibleLines(view),
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}

function visibleLines(view: EditorView): number[] {
  const box = view.scrollDOM.getBoundingClientRect();
  const line = (y: number): number =>
    view.state.doc.lineAt(view.lineBlockAtHeight(y - view.documentTop).from).number;
  const [first, last] = [line(box.top + 1), line(box.bottom - 1)];
  const { folded } = view.state.field(shown);
  return Array.from({ length: last - first + 1 }, (_, i) => first + i).filter(
    (l) => !folded.some((f) => l >= f.from && l <= f.to),
  );
}
