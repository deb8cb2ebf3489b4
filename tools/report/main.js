'use strict';
// The data, what all tabs share, and the tabs. Names come from the model and may be anything: they reach the page as
// text nodes and canvas text only.
const data = JSON.parse(document.getElementById('data').textContent);
const byId = (id) => document.getElementById(id);

// An element: tag with classes ('div.card.soft'), attributes (on* are listeners), children (text, elements, lists).
function make(tag, attributes, ...children) {
  const [name, ...classes] = tag.split('.');
  const element = document.createElement(name);
  if (classes.length) element.className = classes.join(' ');
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (key === 'style') element.style.cssText = value;
    else element.setAttribute(key, value === true ? '' : value);
  }
  for (const child of children.flat(3)) {
    if (child !== undefined && child !== null && child !== false) element.append(child);
  }
  return element;
}

const number = (value, digits = 0) =>
    value.toLocaleString('en', {minimumFractionDigits: digits, maximumFractionDigits: digits});
function bytesText(bytes) {
  if (bytes < 1000) return number(bytes) + ' B';
  for (const unit of ['kB', 'MB', 'GB', 'TB']) {
    bytes /= 1000;
    if (bytes < 999.5) return number(bytes, bytes < 10 ? 2 : bytes < 100 ? 1 : 0) + ' ' + unit;
  }
  return number(bytes) + ' PB';
}
function timeText(us) {
  if (us < 0) return '–';
  if (us < 1000) return number(us, us < 10 ? 2 : us < 100 ? 1 : 0) + ' µs';
  if (us < 1e6) return number(us / 1e3, us < 1e5 ? 2 : 1) + ' ms';
  return number(us / 1e6, 2) + ' s';
}
const percentText = (part) => number(100 * part, part < 0.0995 ? 1 : 0) + ' %';
const plural = (count, word) => number(count) + ' ' + word + (count === 1 ? '' : 's');

// What belongs together: a drawn op, its explanation, and what the passes did to it, by block and first result.
const firstResult = (op) => Object.values(op.outputs).flat()[0] ?? op.type;
const keyOf = (block, result) => block + '\n' + result;
const measured = data.measured_us >= 0;
const explanations = new Map(data.ops.map((op) => [keyOf(op.block, op.results[0] ?? op.type), op]));
const history = new Map();  // key -> [{pass, change}]
for (const pass of data.passes) {
  for (const change of pass.changes) {
    const key = keyOf(change.block, change.name);
    if (!history.has(key)) history.set(key, []);
    history.get(key).push({pass, change});
  }
}
const countOps = (blocks) => blocks.reduce((sum, block) => sum + block.ops.length, 0);
const tile = (label, value, note) =>
    make('div.tile', null, make('div.label', null, label), make('div.value', null, value), make('div.note', null, note));
// A row of a table that opens another below it, over all columns, whose content is made when it is first seen.
function openingRow(tag, columns, cells, content) {
  const inner = make('tr.inner', {hidden: true}, make('td', {colspan: columns}));
  const toggle = (open) => {
    if (open && !inner.firstChild.childNodes.length) inner.firstChild.append(...content());
    inner.hidden = !open;
    row.setAttribute('aria-expanded', open);
  };
  const flip = () => toggle(inner.hidden);
  const row = make(tag, {tabindex: 0, 'aria-expanded': 'false', onclick: flip, onkeydown: (event) => { if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); flip(); } }}, cells);
  return {row, inner, toggle};
}
const pickedOf = (op) => op.candidates.find((candidate) => candidate.picked);
const costOf = (op) => (measured ? op.measured_us : op.estimated_us);
const totalCost = data.ops.reduce((sum, op) => sum + Math.max(costOf(op), 0), 0) || 1;
const categories = {product: 'products', norm: 'norms', pool: 'pooling, reductions', elementwise: 'elementwise',
                    shape: 'moves data', convert: 'casts, copies', control: 'control flow', other: 'other'};
const categoryOfType = new Map();
for (const block of [...data.before, ...data.after]) for (const op of block.ops) categoryOfType.set(op.type, op.category);
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
const dot = (category) => make('span.dot', {style: `background: var(--${category})`});

function bars(items, text) {  // items: {name, value, colour, go}
  const most = Math.max(...items.map((item) => item.value), 1e-9);
  return make('div.bars', null, items.map((item) => [
    item.go ? make('button.link.name', {onclick: item.go, title: item.name}, item.name)
            : make('span.name', {title: item.name}, item.name),
    make('div.bar', null, make('i', {style: `width: ${100 * item.value / most}%; background: ${item.colour || 'var(--accent)'}`})),
    make('span.number', null, text(item))]));
}

// Long lists are made as far as they are looked at.
function longList(items, first, render, parent) {
  let shown = 0;
  const button = make('button.more', {onclick: () => show(shown * 4)});
  const more = parent.tagName === 'TBODY' ? make('tr', null, make('td', {colspan: 20}, button)) : button;
  function show(count) {
    more.remove();
    for (; shown < Math.min(count, items.length); ++shown) parent.append(render(items[shown]));
    if (shown >= items.length) return;
    button.textContent = `show more (${number(items.length - shown)} left)`;
    parent.append(more);
  }
  show(first);
  return parent;
}

const tip = byId('tip');
function showTip(event, text) {
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  const width = tip.offsetWidth;
  tip.style.left = Math.max(8, Math.min(event.clientX + 14, innerWidth - width - 8)) + 'px';
  const below = event.clientY + 18;
  tip.style.top = (below + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 10 : below) + 'px';
}

// A canvas of its element's size, at the screen's resolution.
function fitCanvas(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  canvas.style.width = width + 'px';
  canvas.style.height = height + 'px';
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

// Tabs: {id, title, count, open()}; open() is called whenever the tab is shown, repaint() when colours change.
const tabs = [];
function addTab(id, title, count, open, repaint) { tabs.push({id, title, count, open, repaint: repaint || (() => {})}); }
let currentTab = null;
function showTab(id) {
  tip.hidden = true;
  currentTab = tabs.find((tab) => tab.id === id) || tabs[0];
  for (const tab of tabs) {
    byId(tab.id).hidden = tab !== currentTab;
    tab.button.setAttribute('aria-selected', tab === currentTab);
  }
  currentTab.button.scrollIntoView({block: 'nearest', inline: 'nearest'});
  currentTab.open();
  if (location.hash !== '#' + currentTab.id) history_replace(currentTab.id);
}
function history_replace(id) {
  try { window.history.replaceState(null, '', '#' + id); } catch { /* not for a page without an address */ }
}

function setTheme(dark) {
  document.documentElement.classList.toggle('dark', dark);
  if (currentTab) currentTab.repaint();
}

function start() {
  const path = data.model.split('/').filter(Boolean);
  // "model.onnx" says little without its folder.
  const name = path.slice(/^(model|inference|__model__)\b/.test(path[path.length - 1]) ? -2 : -1).join('/') || 'a model in memory';
  document.title = name + ' – wherry';
  byId('model').textContent = name;
  const {format, opset, producer, producer_version: version, ...rest} = data.metadata;
  const about = [format, opset && 'opset ' + opset, producer && [producer, version].filter(Boolean).join(' '),
                 ...Object.entries(rest).filter(([key]) => !key.startsWith('model.')).map(([key, value]) => key + ' ' + value)].filter(Boolean);
  byId('about').textContent = [...about, data.places, plural(data.threads, 'thread'), 'wherry ' + data.version].join(' · ');
  for (const tab of tabs) {
    tab.button = make('button', {role: 'tab', onclick: () => showTab(tab.id)}, tab.title,
                      tab.count === '' ? null : make('span.count', null, tab.count));
    byId('tabs').append(tab.button);
  }
  const prefers = matchMedia('(prefers-color-scheme: dark)');
  setTheme(prefers.matches);
  prefers.addEventListener('change', () => setTheme(prefers.matches));
  byId('theme').addEventListener('click', () => setTheme(!document.documentElement.classList.contains('dark')));
  addEventListener('resize', () => currentTab.repaint());
  addEventListener('hashchange', () => showTab(location.hash.slice(1)));
  showTab(location.hash.slice(1));
}
document.addEventListener('DOMContentLoaded', start);
