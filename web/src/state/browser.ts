// The browser's side of the store: history and the token of the tab.

import { browserClock } from '../base/clock';
import { PacedPlace, type Place } from './place';
import { read } from './url';

const address: Place = {
  fragment: () => location.hash,
  push: (fragment) => history.pushState(null, '', fragment),
  replace: (fragment) => history.replaceState(null, '', fragment),
  onPop: (changed) => {
    // popstate covers Back and Forward as well as an edited fragment.
    addEventListener('popstate', changed);
  },
};

export const browserPlace = new PacedPlace(address, browserClock);
addEventListener('pagehide', () => browserPlace.flush());

const KEY = 'isobath-token';

// takeToken returns the token of the address or, after a reload, of the tab,
// and removes it from the address bar: what is seen there is shown to others.
export function takeToken(): string | undefined {
  const { token } = read(location.hash);
  if (token === undefined) return sessionStorage.getItem(KEY) ?? undefined;
  sessionStorage.setItem(KEY, token);
  const kept = location.hash
    .slice(1)
    .split('&')
    .filter((p) => !p.startsWith('k='))
    .join('&');
  history.replaceState(null, '', kept === '' ? location.pathname : '#' + kept);
  return token;
}
