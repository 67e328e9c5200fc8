// Matching of key events. Bare letters go by position (KeyboardEvent.code), so
// that WASD stays a block on AZERTY; chords and punctuation go by the character.

export interface KeyEvent {
  readonly key: string;
  readonly code: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly shiftKey: boolean;
  readonly altKey: boolean;
}

/**
 * Whether an event is the key written as "Ctrl+Shift+Z", "W", "?", "Enter" or
 * "Shift+ArrowLeft". Ctrl also matches Cmd.
 */
export function matches(e: KeyEvent, spec: string): boolean {
  const parts = spec === '+' ? ['+'] : spec.split('+');
  const key = parts[parts.length - 1]!;
  const needs = (name: string): boolean => parts.slice(0, -1).includes(name);
  const chord = e.ctrlKey || e.metaKey;
  if (chord !== needs('Ctrl') || e.altKey !== needs('Alt')) return false;
  const letter = /^[A-Z]$/.test(key);
  if (letter && !chord) return e.code === `Key${key}` && e.shiftKey === needs('Shift');
  if (letter) return e.key.toUpperCase() === key && e.shiftKey === needs('Shift');
  if (key.length === 1) return e.key === key;
  return e.key === key && e.shiftKey === needs('Shift');
}

/** Bare keys do nothing while someone types. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}
