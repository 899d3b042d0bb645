// `TextComparisonTests` requires this import, because it reads the comparisons in the script as Swift code.
import SchemaSQLText

/// The script of the page: the slider, the search, and links to hidden parts. The page is readable without
/// the script.
let pageScript = #"""
  'use strict';
  (() => {
  const all = (query, root) => Array.from((root || document).querySelectorAll(query));
  const one = (query, root) => (root || document).querySelector(query);
  const root = document.documentElement;
  all('.js').forEach(element => { element.hidden = false; });
  const panel = one('.slider'), range = one('#at'), base = one('#base'), only = one('#only');
  const split = text => text ? text.split('|') : [];
  const releases = split(panel.dataset.stops).map(text => {
    const colon = text.indexOf(':');
    return { count: +text.slice(0, colon), name: text.slice(colon + 1) };
  });
  const migrations = split(panel.dataset.numbers).map((number, index) => ({ count: index + 1, name: number }));
  const alive = all('#schema [data-f]').map(element => ({
    element, from: +element.dataset.f,
    until: element.dataset.u === undefined ? Infinity : +element.dataset.u,
    since: element.dataset.s === undefined ? +element.dataset.f : +element.dataset.s,
    hasNext: element.dataset.n !== undefined,
    owner: element.closest('article'), isTable: element.matches('article'), link: element.closest('.index'),
    label: null
  }));
  const articles = alive.filter(part => part.isTable), links = alive.filter(part => part.link);
  let stops = releases.length > 1 ? releases : migrations;
  const chosen = () => one('input[name=unit]:checked');
  const has = (part, count) => part.from < count && part.until >= count;
  const words = { new: 'new', changed: 'changed', dropped: 'dropped', before: 'before' };
  const count = (number, noun) => number + ' ' + noun + (number === 1 ? '' : 's');

  function mark(part, word) {
    part.element.classList.remove('is-new', 'is-changed', 'is-dropped', 'is-before');
    if (part.label) { part.label.remove(); part.label = null; }
    part.word = word;
    if (!word) return;
    part.element.classList.add('is-' + word);
    part.label = document.createElement('span');
    part.label.className = 'mark mark-' + word;
    part.label.textContent = words[word];
    const place = part.isTable ? one('h3', part.element) : one('th', part.element);
    if (part.isTable) place.after(part.label); else (place || part.element).append(part.label);
  }

  function baseCount(stop) {
    if (base.value === 'n') return null;
    if (base.value !== 'p') return +base.value;
    const index = stops.indexOf(stop);
    return index > 0 ? stops[index - 1].count : 0;
  }

  function show() {
    if (!stops.length) return;
    const stop = stops[Math.min(+range.value, stops.length - 1)], now = stop.count, then = baseCount(stop);
    const changed = new Map();
    for (const part of alive) {
      if (part.link) continue;
      const isNow = has(part, now), was = then !== null && has(part, then);
      let word = '';
      if (then !== null && isNow && !was) word = part.since < then ? 'changed' : 'new';
      if (!isNow && was) word = part.hasNext && part.until < now ? 'before' : 'dropped';
      // An older text of a view is not shown beside the newer one.
      if (part.isTable && word === 'before') word = '';
      part.element.hidden = !isNow && (!was || !word);
      mark(part, word);
      if (word && !part.isTable) changed.set(part.owner, true);
    }
    const totals = { now: 0, new: 0, changed: 0, dropped: 0 };
    for (const part of articles) {
      if (!part.word && changed.has(part.owner) && !part.element.hidden) mark(part, 'changed');
      if (only.checked && !part.word) part.element.hidden = true;
      if (has(part, now)) totals.now++;
      if (part.word) totals[part.word]++;
    }
    all('#schema .group').forEach(group => {
      if (one('[data-f]', group)) group.hidden = !all('li', group).some(item => !item.hidden);
    });
    for (const part of links) {
      const target = document.getElementById(decodeURIComponent(one('a', part.element).hash.slice(1)));
      part.element.hidden = target.hidden;
      const own = articles.find(article => article.element === target);
      mark(part, own.word);
    }
    one('#where').textContent = stop.name;
    range.setAttribute('aria-valuetext', stop.name);
    one('#summary').textContent = totals.now + ' tables and views'
      + (then === null ? '' : ': ' + totals.new + ' new, ' + totals.changed + ' changed, ' + totals.dropped + ' dropped');
    root.dataset.at = now;
  }

  function use(list, wanted) {
    stops = list;
    range.max = Math.max(stops.length - 1, 0);
    let index = stops.length - 1;
    if (wanted !== undefined) {
      const found = stops.findIndex(stop => stop.count >= wanted);
      if (found >= 0) index = found;
    }
    range.value = index;
    show();
  }

  function goTo(wanted) {
    if (!releases.some(stop => stop.count === wanted) || stops === migrations) {
      const radio = one('input[name=unit][value=m]');
      if (radio) radio.checked = true;
      use(migrations, wanted);
    } else {
      use(releases, wanted);
    }
  }

  range.addEventListener('input', show);
  base.addEventListener('change', show);
  only.addEventListener('change', show);
  all('input[name=unit]').forEach(radio => radio.addEventListener('change', () => {
    const now = +root.dataset.at;
    use(chosen().value === 'm' ? migrations : releases, now);
  }));
  // The timeline shows the latest migration first.
  all('.entry').reverse().slice(0, migrations.length).forEach((entry, index) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.dataset.at = index + 1;
    button.textContent = 'Show this schema';
    button.addEventListener('click', () => {
      goTo(index + 1);
      one('#schema').scrollIntoView();
      range.focus({ preventScroll: true });
    });
    entry.append(button);
  });

  // A link may lead to a table that the chosen release does not have, or into closed details.
  function reveal(element) {
    for (let outer = element; outer; outer = outer.parentElement) {
      if (outer.tagName === 'DETAILS') outer.open = true;
    }
    const part = alive.find(part => part.element === element.closest('[data-f]'));
    const owner = articles.find(article => article.element === element.closest('article'));
    if (element.closest('#schema') && only.checked && owner && owner.element.hidden) { only.checked = false; show(); }
    for (const hidden of [owner, part]) {
      if (hidden && hidden.element.hidden) goTo(Math.min(hidden.until, migrations.length));
    }
    element.scrollIntoView();
  }
  function follow() {
    const id = decodeURIComponent(location.hash.slice(1));
    const target = id && document.getElementById(id);
    all('.at-target').forEach(element => element.classList.remove('at-target'));
    if (!target) return;
    target.classList.add('at-target');
    reveal(target);
  }
  window.addEventListener('hashchange', follow);
  document.addEventListener('click', event => {
    const link = event.target.closest('a[href^="#"]');
    if (link && link.hash === location.hash) follow();
  });

  // Search
  const field = one('#search'), results = one('#results'), list = one('#results ul'), found = one('#found');
  let entries = null;
  function collect() {
    entries = [];
    const add = (element, kind, text, place) =>
      entries.push({ element, kind, text, place: place || '', key: (text + ' ' + (place || '')).toLowerCase() });
    for (const article of all('.tables > article')) {
      const name = one('h3', article).firstChild.textContent;
      add(article, article.matches('.view') ? 'view' : 'table', name);
      all('tbody tr', article).forEach(row => add(row, 'column', one('th', row).firstChild.textContent, name));
      all('.group li summary', article).forEach(item => add(item, 'index or trigger', item.textContent, name));
    }
    all('.entry').forEach(entry => add(entry, 'migration', one('h4', entry).textContent,
      one('.description', entry) ? one('.description', entry).textContent : ''));
    all('.rule').forEach(rule => add(rule, 'lint rule', one('code', rule).textContent));
  }
  function search() {
    const query = field.value.trim().toLowerCase();
    list.textContent = '';
    results.hidden = !query;
    if (!query) return;
    if (!entries) collect();
    const parts = query.split(/\s+/);
    const rank = entry => entry.text.toLowerCase() === query ? 0 : entry.text.toLowerCase().startsWith(query) ? 1
      : entry.text.toLowerCase().includes(query) ? 2 : 3;
    const hits = entries.filter(entry => parts.every(part => entry.key.includes(part)))
      .map((entry, index) => ({ entry, index, rank: rank(entry) }))
      .sort((a, b) => a.rank - b.rank || a.index - b.index);
    found.textContent = hits.length ? count(hits.length, 'result') : 'Nothing found';
    for (const { entry } of hits.slice(0, 50)) {
      const item = document.createElement('li'), link = document.createElement('a'), kind = document.createElement('small');
      const owner = entry.element.closest('[id]');
      link.href = '#' + (owner ? encodeURIComponent(owner.id) : 'schema');
      kind.textContent = entry.kind;
      link.append(kind, entry.place && entry.kind !== 'migration' ? entry.place + '.' + entry.text : entry.text);
      link.addEventListener('click', () => { results.hidden = true; setTimeout(() => reveal(entry.element), 0); });
      item.append(link);
      list.append(item);
    }
  }
  field.addEventListener('input', search);
  field.addEventListener('focus', search);
  one('.search').addEventListener('submit', event => {
    event.preventDefault();
    const first = one('a', list);
    if (first) first.click();
  });
  document.addEventListener('click', event => { if (!event.target.closest('.search')) results.hidden = true; });
  document.addEventListener('keydown', event => {
    const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== 'range';
    if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey) { event.preventDefault(); field.focus(); }
    if (event.key === 'Escape' && event.target.closest('.search')) { results.hidden = true; field.focus(); }
    if (!event.target.closest('.search') || !/^Arrow(Down|Up)$/.test(event.key)) return;
    const items = [field].concat(all('a', list));
    const next = items[items.indexOf(document.activeElement) + (event.key === 'ArrowDown' ? 1 : -1)];
    if (next) { event.preventDefault(); next.focus(); }
  });

  if (stops === migrations) { const radio = one('input[name=unit][value=m]'); if (radio) radio.checked = true; }
  use(stops);
  follow();
  root.dataset.ready = '1';
  })();
  """#
