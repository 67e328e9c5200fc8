import { beforeEach, describe, expect, it } from 'vitest';
import { PacedPlace, type Place } from './place';

describe('PacedPlace', () => {
  let calls: string[];
  let now: string;
  let waiting: (() => void)[];
  let popped: () => void;
  let fails: boolean;
  let place: PacedPlace;
  const pass = (): void => {
    const due = waiting;
    waiting = [];
    for (const f of due) f();
  };
  const note = (kind: string, fragment: string): void => {
    if (fails) throw new DOMException('too many calls', 'SecurityError');
    calls.push(`${kind} ${(now = fragment)}`);
  };

  beforeEach(() => {
    [calls, now, waiting, fails] = [[], '#', [], false];
    const browser: Place = {
      fragment: () => now,
      push: (f) => note('push', f),
      replace: (f) => note('replace', f),
      onPop: (f) => (popped = f),
    };
    place = new PacedPlace(browser, {
      after: (_, f) => {
        waiting.push(f);
        return () => (waiting = waiting.filter((w) => w !== f));
      },
    });
  });

  it('writes the first and the newest of a thousand moves', () => {
    for (let i = 0; i < 1000; i++) place.replace(`#${i}`);
    expect(calls).toEqual(['replace #0']);
    expect(place.fragment()).toBe('#999');
    pass();
    expect(calls).toEqual(['replace #0', 'replace #999']);
    pass();
    pass();
    expect(calls.length).toBe(2);
  });

  it('gives the entry that is left its own state before the next one', () => {
    place.replace('#a');
    place.replace('#b');
    place.push('#c');
    expect(calls).toEqual(['replace #a', 'replace #b', 'push #c']);
  });

  it('forgets what waits when the browser goes back', () => {
    place.onPop(() => {});
    place.replace('#a');
    place.replace('#b');
    now = '#before';
    popped();
    pass();
    expect(place.fragment()).toBe('#before');
    expect(calls).toEqual(['replace #a']);
  });

  it('survives a browser that throws, and writes later', () => {
    fails = true;
    place.push('#a');
    expect(place.fragment()).toBe('#a');
    fails = false;
    pass();
    expect(calls).toEqual(['replace #a']);
  });
});
