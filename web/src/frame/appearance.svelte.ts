// Light or dark: the system's choice unless the user made one.
import { readTheme, type Theme, type ThemeName } from '../base/theme';

const KEY = 'isobath-theme';

export class Appearance {
  name = $state<ThemeName>('light');
  theme = $state.raw<Theme>(undefined as unknown as Theme);

  constructor(private readonly root: HTMLElement = document.documentElement) {
    const system = matchMedia('(prefers-color-scheme: dark)');
    const kept = localStorage.getItem(KEY);
    this.set(kept === 'light' || kept === 'dark' ? kept : system.matches ? 'dark' : 'light');
    system.addEventListener('change', (e) => {
      if (!localStorage.getItem(KEY)) this.set(e.matches ? 'dark' : 'light');
    });
  }

  toggle(): void {
    const next = this.name === 'dark' ? 'light' : 'dark';
    localStorage.setItem(KEY, next);
    this.set(next);
  }

  private set(name: ThemeName): void {
    this.root.dataset['theme'] = name;
    this.name = name;
    this.theme = readTheme(this.root);
  }
}
