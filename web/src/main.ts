import { mount } from 'svelte';
import { Api } from './api/client';
import { browserClock } from './base/clock';
import { browserPlace, takeToken } from './state/browser';
import { Store } from './state/store';
import App from './frame/App.svelte';
import './frame/page.css';
import { PAGES } from './pages';

const token = takeToken();
const api = new Api(token ?? '');
const store = new Store(api, browserPlace, browserClock);
mount(App, {
  target: document.getElementById('app')!,
  props: { store, api, tokenless: token === undefined, pages: PAGES },
});
