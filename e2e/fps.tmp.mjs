import { chromium } from 'playwright-core';
import { mkdtemp, rm } from 'node:fs/promises';
const profile = await mkdtemp('/tmp/iso/core/prof-');
const b = await chromium.launchPersistentContext(profile, { executablePath: '/usr/bin/chromium', args: ['--headless','--no-sandbox','--disable-gpu'], viewport: { width: 1440, height: 900 } });
const page = await b.newPage();
page.on('pageerror', e => console.log('ERR', String(e)));
const t0 = Date.now();
await page.goto('http://127.0.0.1:7340/#k=0123456789abcdefghijkl&v=1');
await page.waitForFunction(() => performance.getEntriesByName('draw Logical timeline').length > 0, undefined, {timeout: 60000});
console.log('first picture', Date.now()-t0, 'ms');
await page.waitForTimeout(3000);
const pan = async (label) => {
  await page.evaluate(() => { window.__n=0; window.__go=true; performance.clearMeasures(); const f=()=>{window.__n++; if(window.__go) requestAnimationFrame(f)}; requestAnimationFrame(f); });
  await page.mouse.move(900, 300); await page.keyboard.down('Shift'); await page.mouse.down();
  const s = Date.now(); let moves=0;
  while (Date.now()-s < 4000) { await page.mouse.move(900 - 300*Math.sin((Date.now()-s)/600), 300); moves++; }
  const n = await page.evaluate(() => { window.__go=false; return [window.__n, performance.getEntriesByName('redraw Logical timeline').length, performance.getEntriesByName('redraw Logical timeline').reduce((a,e)=>Math.max(a,e.duration),0)]; });
  await page.mouse.up(); await page.keyboard.up('Shift');
  console.log(label, 'frames/s', (n[0]/4).toFixed(1), 'redraws/s', (n[1]/4).toFixed(1), 'max redraw ms', n[2].toFixed(0), 'moves', moves);
};
await pan('whole');
// zoom in a bit
await page.mouse.move(600,300);
for (let i=0;i<2;i++){ await page.keyboard.down('Control'); await page.mouse.wheel(0,-100); await page.keyboard.up('Control'); await page.waitForTimeout(700);} 
await pan('zoomed');
await page.screenshot({path:'/tmp/iso/core/many.png'});
console.log(await page.evaluate(()=>location.hash));
await b.close(); await rm(profile,{recursive:true,force:true});
