// The source pane's editor, loaded on first use: text, line numbers, a heat
// gutter, no syntax hues. It lives in a shadow root, because there its styles
// are adopted sheets, which the page's content policy allows.
import { cpp } from '@codemirror/lang-cpp';
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from '@codemirror/language';
import { fortran } from '@codemirror/legacy-modes/mode/fortran';
import { go } from '@codemirror/legacy-modes/mode/go';
import { EditorState, StateEffect, StateField, type Extension } from '@codemirror/state';
import {
  Decoration,
  EditorView,
  gutter,
  GutterMarker,
  lineNumbers,
  type DecorationSet,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { short } from '../base/format';
import { HOVERED, SELECTED } from '../api/decode';
import type { Heat, LineHeat } from './code';

export interface Editor {
  show(file: string, text: string): void;
  heat(heat: Heat, current: number | undefined, byLatency: boolean): void;
  reveal(line: number): void;
  /** First and last line on screen. */
  visible(): [number, number];
  destroy(): void;
}

const setHeat = StateEffect.define<{ heat: Heat; current: number | undefined; byLatency: boolean }>();

interface Shown {
  readonly heat: Heat | undefined;
  readonly byLatency: boolean;
  readonly current: number | undefined;
  readonly marks: DecorationSet;
}

const shown = StateField.define<Shown>({
  create: () => ({ heat: undefined, byLatency: true, current: undefined, marks: Decoration.none }),
  update(value, tr) {
    for (const e of tr.effects) {
      if (!e.is(setHeat)) continue;
      const { heat, current, byLatency } = e.value;
      const line =
        current !== undefined && current <= tr.state.doc.lines ? tr.state.doc.line(current) : undefined;
      const marks = line
        ? Decoration.set([Decoration.line({ class: 'current' }).range(line.from)])
        : Decoration.none;
      return { heat, byLatency, current, marks };
    }
    return tr.docChanged ? { ...value, marks: Decoration.none } : value;
  },
  provide: (f) => EditorView.decorations.from(f, (s) => s.marks),
});

class HeatMark extends GutterMarker {
  constructor(
    private readonly line: LineHeat,
    private readonly byLatency: boolean,
  ) {
    super();
  }

  override eq(other: HeatMark): boolean {
    return other.line === this.line && other.byLatency === this.byLatency;
  }

  override toDOM(): Node {
    const box = document.createElement('div');
    box.className = 'heat';
    const bar = document.createElement('i');
    bar.style.width = `${Math.max(2, 42 * this.line.share)}px`;
    const value = this.byLatency ? this.line.sums[SELECTED] : this.line.samples[SELECTED];
    const label = document.createElement('span');
    label.textContent = short(value);
    box.append(bar, label);
    if (this.line.samples[HOVERED] > 0) {
      const strip = document.createElement('u');
      strip.style.width = `${Math.max(2, 42 * this.line.hover)}px`;
      box.append(strip);
    }
    return box;
  }
}

const heatGutter = gutter({
  class: 'heat-gutter',
  lineMarker: (view, block) => {
    const { heat, byLatency } = view.state.field(shown);
    const line = heat?.lines.get(view.state.doc.lineAt(block.from).number);
    return line && line.samples[SELECTED] > 0 ? new HeatMark(line, byLatency) : null;
  },
  lineMarkerChange: (u) => u.transactions.some((t) => t.effects.some((e) => e.is(setHeat))),
});

const weights = HighlightStyle.define([
  { tag: [tags.keyword, tags.controlKeyword, tags.modifier, tags.typeName], fontWeight: '600' },
  { tag: tags.comment, color: 'var(--muted)', fontStyle: 'italic' },
  { tag: tags.processingInstruction, color: 'var(--muted)' },
]);

const look = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'var(--bg)', color: 'var(--text)', fontSize: '11.5px' },
  '.cm-scroller': {
    fontFamily: '"JetBrains Mono", ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace',
    lineHeight: '18px',
    fontVariantLigatures: 'none',
  },
  '.cm-content': { padding: '0' },
  '.cm-line': { padding: '0 12px 0 8px' },
  '.cm-gutters': { backgroundColor: 'var(--bg)', color: 'var(--muted)', border: '0' },
  '.cm-lineNumbers .cm-gutterElement': { minWidth: '48px', padding: '0 6px 0 0' },
  '.heat-gutter .cm-gutterElement': { width: '46px' },
  '.heat': {
    position: 'relative',
    height: '18px',
    width: '44px',
    textAlign: 'right',
    fontSize: '10.5px',
    color: 'var(--text)',
  },
  '.heat i': {
    position: 'absolute',
    right: '0',
    top: '2px',
    bottom: '2px',
    backgroundColor: 'var(--selected-bar)',
    borderRadius: '2px',
  },
  '.heat u': {
    position: 'absolute',
    right: '0',
    bottom: '2px',
    height: '4px',
    backgroundColor: 'var(--hover)',
  },
  '.heat span': { position: 'relative', paddingRight: '3px' },
  '.current': { backgroundColor: 'var(--selected-tint)', boxShadow: 'none' },
  '&.cm-focused': { outline: '2px solid var(--focus)', outlineOffset: '-2px' },
  '.cm-cursor': { display: 'none' },
});

function languageOf(file: string): Extension {
  if (/\.(c|cc|cpp|cxx|h|hh|hpp|hxx|cu|inl)$/i.test(file)) return cpp();
  if (/\.(f|for|f77|f90|f95|f03|f08)$/i.test(file)) return StreamLanguage.define(fortran);
  return /\.go$/i.test(file) ? StreamLanguage.define(go) : [];
}

export function createEditor(
  host: HTMLElement,
  onLine: (line: number, e: MouseEvent) => void,
  onHover: (line: number | undefined) => void,
  onKey: (e: KeyboardEvent) => boolean,
): Editor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const clicks = EditorView.domEventHandlers({
    click: (e, view) => {
      const at = view.posAtCoords({ x: e.clientX, y: e.clientY }, false);
      onLine(view.state.doc.lineAt(at).number, e);
      return false;
    },
    mousemove: (e, view) => {
      const block = view.lineBlockAtHeight(e.clientY - view.documentTop);
      onHover(view.state.doc.lineAt(block.from).number);
      return false;
    },
    keydown: (e) => onKey(e),
    mouseleave: () => {
      onHover(undefined);
      return false;
    },
  });
  const state = (file: string, text: string): EditorState =>
    EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        heatGutter,
        shown,
        look,
        syntaxHighlighting(weights),
        languageOf(file),
        clicks,
        EditorState.readOnly.of(true),
        EditorView.editable.of(false),
        EditorView.contentAttributes.of({ tabindex: '0', 'aria-label': `Source of ${file}` }),
      ],
    });
  const view = new EditorView({ state: state('', ''), root, parent: root });
  return {
    show: (file, text) => view.setState(state(file, text)),
    heat: (heat, current, byLatency) => view.dispatch({ effects: setHeat.of({ heat, current, byLatency }) }),
    reveal: (line) => {
      if (line > view.state.doc.lines) return;
      view.dispatch({ effects: EditorView.scrollIntoView(view.state.doc.line(line).from, { y: 'center' }) });
    },
    visible: () => {
      const box = view.scrollDOM.getBoundingClientRect();
      const line = (y: number): number =>
        view.state.doc.lineAt(view.lineBlockAtHeight(y - view.documentTop).from).number;
      return [line(box.top + 1), line(box.bottom - 1)];
    },
    destroy: () => view.destroy(),
  };
}
