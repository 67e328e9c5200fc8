import { mount } from 'svelte';
import { Api } from './model/api';
import { browserClock, browserPlace, takeToken } from './model/browser';
import { Store } from './model/store';
import App from './shell/App.svelte';
import './shell/page.css';

const token = takeToken();
const api = new Api(token ?? '');
const store = new Store(api, browserPlace, browserClock);
mount(App, { target: document.getElementById('app')!, props: { store, api, tokenless: token === undefined } });
