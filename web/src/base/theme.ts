// The colours views draw with: the tokens of tokens.css, read once per change
// of theme.

export const TOKENS = [
  'bg',
  'surface',
  'text',
  'muted',
  'line',
  'selected',
  'hover',
  'rest',
  'focus',
  'error',
  'warn',
  'ok',
  'hair',
  'hair-strong',
  'press',
  'selected-tint',
  'selected-bar',
  'rest-bar',
  'hover-tint',
  'band',
  'cell-edge',
  'foot',
  'strong-end',
  'level-1',
  'level-2',
  'level-3',
  'level-ram',
  'cat-1',
  'cat-2',
  'cat-3',
  'cat-4',
  'cat-5',
  'cat-6',
  'cat-7',
  'less',
  'more',
] as const;

export type Token = (typeof TOKENS)[number];
export type Theme = Readonly<Record<Token, string>> & { readonly dark: boolean };
export type ThemeName = 'light' | 'dark';

export function makeTheme(name: ThemeName, value: (token: Token) => string): Theme {
  const colors = Object.fromEntries(TOKENS.map((t) => [t, value(t).trim()])) as Record<Token, string>;
  return { ...colors, dark: name === 'dark' };
}

/** Reads the tokens in force inside an element that carries data-theme. */
export function readTheme(element: HTMLElement): Theme {
  const style = getComputedStyle(element);
  const name = element.closest('[data-theme]')?.getAttribute('data-theme') === 'dark' ? 'dark' : 'light';
  return makeTheme(name, (token) => style.getPropertyValue(`--${token}`));
}

/** Reads the tokens out of the text of tokens.css; for tests and export. */
export function parseTokens(css: string, name: ThemeName): Theme {
  const block = new RegExp(`\\[data-theme='${name}'\\]\\s*{([^}]*)}`).exec(css)?.[1] ?? '';
  return makeTheme(name, (token) => {
    const value = new RegExp(`--${token}:\\s*([^;]+);`).exec(block)?.[1];
    if (value === undefined) throw new Error(`tokens.css has no --${token} in the ${name} theme`);
    return value;
  });
}

export const SANS =
  'Inter, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif';
export const MONO = '"JetBrains Mono", ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace';
