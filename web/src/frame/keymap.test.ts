import { describe, expect, it } from 'vitest';
import type { KeyEvent } from '../base/keys';
import { actionOf } from './keymap';

describe('keys', () => {
  const press = (key: string, code: string, mods: Partial<KeyEvent> = {}): KeyEvent => ({
    key,
    code,
    ctrlKey: false,
    metaKey: false,
    shiftKey: false,
    altKey: false,
    ...mods,
  });
  it('leaves bare keys alone while someone types', () => {
    expect(actionOf(press('i', 'KeyI'), false)).toBe('invert');
    expect(actionOf(press('i', 'KeyI'), true)).toBeUndefined();
    expect(actionOf(press('k', 'KeyK', { ctrlKey: true }), true)).toBe('command');
  });
});
