// Says so where the page would be if its first code does not come. A classic
// script of its own: what it watches for is that the others are not there.
addEventListener(
  'error',
  (e) => {
    if (!(e.target instanceof HTMLScriptElement)) return;
    const said = document.createElement('p');
    said.setAttribute('role', 'alert');
    said.textContent = 'This page could not be loaded; is isobath still running? ';
    const again = document.createElement('button');
    again.textContent = 'Load again';
    again.addEventListener('click', () => location.reload());
    said.append(again);
    document.getElementById('app').replaceChildren(said);
  },
  true, // an error of an element does not bubble
);
