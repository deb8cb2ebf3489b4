'use strict';
// The graph: laid out already, drawn on a canvas as far as it is visible.
const graphView = {side: data.passes.length ? 'after' : 'before', block: 0, colour: 'category', selected: -1, hover: -1, matches: [], at: -1};
let showInGraph = () => {};
{
  const canvas = byId('graph-canvas');
  const map = byId('graph-map');
  const stage = byId('stage');
  const details = byId('details');
  const cameras = new Map();  // per side and block: {x, y, scale}, the graph's point at the canvas's corner
  const scenes = new Map();
  const kStrip = 1200;  // edges are kept by strips of this height
  let camera = null;
  let frame = 0;

  const memoryOf = new Map(data.memory.values.flatMap((value) => [[value.name, value], ...value.shared_by.map((name) => [name, value])]));
  const identity = (op) => JSON.stringify([op.type, op.inputs, op.attributes]);
  const programs = {};
  for (const side of ['before', 'after']) {
    programs[side] = new Map(data[side].flatMap((block, b) => block.ops.map((op) => [keyOf(b, firstResult(op)), op])));
  }
  function changeOf(side, block, op) {
    const other = programs[side === 'before' ? 'after' : 'before'].get(keyOf(block, firstResult(op)));
    if (!other) return side === 'before' ? 'remove' : 'add';
    return identity(other) === identity(op) ? 'same' : 'change';
  }

  function scene() {
    const id = graphView.side + graphView.block;
    if (scenes.has(id)) return scenes.get(id);
    const diagram = data[graphView.side][graphView.block];
    const types = new Map(Object.entries(diagram.types));
    const weights = new Map(Object.entries(diagram.weights));
    const nodes = diagram.nodes.map((node, i) => {
      const op = node.kind === 'o' ? diagram.ops[node.index] : null;
      const name = op ? op.name : node.kind === 'i' ? diagram.inputs[node.index] : diagram.outputs[node.index];
      const result = op ? firstResult(op) : name;
      const explanation = op && graphView.side === 'after' ? explanations.get(keyOf(graphView.block, result)) : null;
      return {...node, id: i, op, name, result, explanation, into: [], from: [], title: op ? op.type : name,
              detail: types.get(result) || weights.get(result) || '', change: op ? changeOf(graphView.side, graphView.block, op) : 'same',
              text: [name, op ? op.type : '', op ? Object.values(op.outputs).flat().join(' ') : '', op ? op.kernel || '' : ''].join('\n').toLowerCase()};
    });
    const strips = [];
    const edges = diagram.edges.map((edge, i) => {
      const route = edge.route;
      const item = {...edge, id: i, top: route[1], bottom: route[route.length - 1], long: route.length === 4 && route[3] - route[1] > 500, drawn: 0};
      nodes[edge.from].from.push(item);
      nodes[edge.to].into.push(item);
      for (let strip = Math.floor(item.top / kStrip); strip <= Math.floor(item.bottom / kStrip); ++strip) (strips[strip] = strips[strip] || []).push(item);
      return item;
    });
    const byTop = [...nodes].sort((a, b) => a.y - b.y);
    const made = {diagram, types, weights, nodes, edges, strips, byTop, tallest: Math.max(0, ...nodes.map((node) => node.height))};
    scenes.set(id, made);
    return made;
  }

  const colours = {};
  function readColours() {
    for (const name of ['page', 'card', 'ink', 'soft', 'line', 'strong-line', 'edge', 'accent', 'accent-soft', 'red', 'red-soft', 'green', 'green-soft', 'amber', 'amber-soft',
                        ...Object.keys(categories).flatMap((category) => [category, category + '-soft'])]) colours[name] = css(name);
  }
  function paint(node) {
    if (!node.op) return {fill: colours.card, stroke: colours.ink};
    if (graphView.colour === 'change') {
      const name = {remove: 'red', add: 'green', change: 'amber'}[node.change];
      return name ? {fill: colours[name + '-soft'], stroke: colours[name]} : {fill: colours.card, stroke: colours['strong-line']};
    }
    if (graphView.colour === 'cost') {
      const cost = node.explanation ? costOf(node.explanation) : -1;
      if (cost <= 0) return {fill: colours.card, stroke: colours['strong-line']};
      const heat = Math.min(1, Math.sqrt(cost / dearest()));
      return {fill: `color-mix(in oklab, ${colours.red} ${Math.round(6 + heat * 74)}%, ${colours.card})`, stroke: colours.red};
    }
    return {fill: colours[node.op.category + '-soft'] || colours['other-soft'], stroke: colours[node.op.category] || colours.other};
  }
  let dearestCost = 0;
  function dearest() {
    if (!dearestCost) dearestCost = Math.max(1e-9, ...data.ops.map(costOf));
    return dearestCost;
  }

  function size() { return {width: stage.clientWidth, height: stage.clientHeight}; }
  function cameraFor(s) {
    const id = graphView.side + graphView.block;
    if (!cameras.has(id)) {
      const {width, height} = size();
      const whole = Math.min(width / (s.diagram.width + 60), height / (s.diagram.height + 60));
      const scale = Math.min(1.1, Math.max(whole, Math.min(1, Math.max(0.55, (width - 90) / (s.diagram.width + 60)))));
      const centre = s.nodes.length ? s.nodes[0].x : 0;
      cameras.set(id, {x: centre - width / 2 / scale, y: -24 / scale, scale});
    }
    return cameras.get(id);
  }

  function draw() {
    frame = 0;
    if (byId('graph').hidden) return;
    const s = scene();
    const {width, height} = size();
    camera = cameraFor(s);
    const g = fitCanvas(canvas, width, height);
    g.fillStyle = colours.page;
    g.fillRect(0, 0, width, height);
    g.translate(-camera.x * camera.scale, -camera.y * camera.scale);
    g.scale(camera.scale, camera.scale);
    const view = {left: camera.x, right: camera.x + width / camera.scale, top: camera.y, bottom: camera.y + height / camera.scale};
    drawEdges(g, s, view);
    drawNodes(g, s, view);
    drawMap(s, view);
  }
  function redraw() { if (!frame) frame = requestAnimationFrame(draw); }

  let stamp = 0;
  function drawEdges(g, s, view) {
    ++stamp;
    g.lineWidth = Math.max(1.1, 0.7 / camera.scale);
    g.strokeStyle = colours.edge;
    const chosen = new Set(graphView.selected >= 0 ? [...s.nodes[graphView.selected].into, ...s.nodes[graphView.selected].from] : []);
    g.beginPath();
    const last = Math.min(s.strips.length - 1, Math.floor(view.bottom / kStrip));
    for (let strip = Math.max(0, Math.floor(view.top / kStrip)); strip <= last; ++strip) {
      for (const edge of s.strips[strip] || []) {
        if (edge.drawn === stamp || chosen.has(edge) || edge.bottom < view.top || edge.top > view.bottom) continue;
        edge.drawn = stamp;
        if (!edge.long) trace(g, edge, view);
      }
    }
    g.stroke();
    // Lines past hundreds of layers are only begun and ended; choosing a node shows them whole.
    g.setLineDash([4, 4]);
    g.beginPath();
    for (let strip = Math.max(0, Math.floor(view.top / kStrip)); strip <= last; ++strip) {
      for (const edge of s.strips[strip] || []) {
        if (!edge.long || chosen.has(edge)) continue;
        const [x0, y0, x1, y1] = edge.route;
        g.moveTo(x0, y0);
        g.lineTo(x0, y0 + 26);
        g.moveTo(x1, y1 - 26);
        g.lineTo(x1, y1);
      }
    }
    g.stroke();
    g.setLineDash([]);
    g.strokeStyle = colours.accent;
    g.lineWidth = Math.max(2, 1.4 / camera.scale);
    g.beginPath();
    for (const edge of chosen) trace(g, edge, null);
    g.stroke();
  }
  // Straight in lanes, and in between a curve that leaves and arrives upright; what is out of view is passed over.
  function trace(g, edge, view) {
    const route = edge.route;
    let drawing = false;
    for (let i = 2; i < route.length; i += 2) {
      const [x0, y0, x1, y1] = [route[i - 2], route[i - 1], route[i], route[i + 1]];
      if (view && (y1 < view.top || y0 > view.bottom)) { drawing = false; continue; }
      if (!drawing) g.moveTo(x0, y0);
      drawing = true;
      const middle = (y0 + y1) / 2;
      if (x0 === x1) g.lineTo(x1, y1);
      else g.bezierCurveTo(x0, middle, x1, middle, x1, y1);
    }
    if (camera.scale < 0.4) return;
    const [x, y] = route.slice(-2);
    g.moveTo(x - 3.5, y - 6);
    g.lineTo(x, y);
    g.lineTo(x + 3.5, y - 6);
  }

  function visibleNodes(s, view) {
    let low = 0;
    let high = s.byTop.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (s.byTop[middle].y < view.top - s.tallest) low = middle + 1; else high = middle;
    }
    const visible = [];
    for (; low < s.byTop.length && s.byTop[low].y - s.tallest < view.bottom; ++low) {
      const node = s.byTop[low];
      if (node.x + node.width / 2 > view.left && node.x - node.width / 2 < view.right) visible.push(node);
    }
    return visible;
  }
  function drawNodes(g, s, view) {
    const found = new Set(graphView.matches);
    const near = new Set();
    if (graphView.selected >= 0) {
      for (const edge of s.nodes[graphView.selected].into) near.add(edge.from);
      for (const edge of s.nodes[graphView.selected].from) near.add(edge.to);
    }
    g.textAlign = 'center';
    for (const node of visibleNodes(s, view)) {
      const {fill, stroke} = paint(node);
      const left = node.x - node.width / 2;
      const top = node.y - node.height / 2;
      g.globalAlpha = found.size && !found.has(node.id) && node.id !== graphView.selected ? 0.35 : 1;
      g.beginPath();
      g.roundRect(left, top, node.width, node.height, node.op ? 7 : 20);
      g.fillStyle = fill;
      g.fill();
      const strong = node.id === graphView.selected || node.id === graphView.hover;
      g.strokeStyle = strong || near.has(node.id) ? colours.accent : stroke;
      g.lineWidth = node.id === graphView.selected ? 3 : strong || near.has(node.id) ? 2 : 1.2;
      g.stroke();
      if (camera.scale > 0.22) {
        g.fillStyle = colours.ink;
        g.font = '600 12.5px system-ui, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif';
        const detailed = camera.scale > 0.42 && node.detail;
        g.fillText(fitText(g, node.title, node.width - 12), node.x, node.y + (detailed ? -3 : 4.5));
        if (detailed) {
          g.fillStyle = colours.soft;
          g.font = '10.5px ui-monospace, "Cascadia Mono", "DejaVu Sans Mono", Menlo, monospace';
          g.fillText(fitText(g, node.detail, node.width - 10), node.x, node.y + 12.5);
        }
      }
      g.globalAlpha = 1;
    }
  }
  function fitText(g, text, width) {
    if (g.measureText(text).width <= width) return text;
    let keep = Math.max(1, Math.floor(text.length * width / g.measureText(text).width) - 1);
    while (keep > 1 && g.measureText(text.slice(0, keep) + '…').width > width) --keep;
    return text.slice(0, keep) + '…';
  }

  // The whole graph beside it, small.
  let mapScale = 1;
  const mapImage = {};
  function drawMap(s, view) {
    const {height} = size();
    const tall = height - 24 - byId('legend').offsetHeight - 12;
    const shown = s.diagram.height * camera.scale > height && tall > 120;
    map.style.visibility = shown ? 'visible' : 'hidden';
    if (!shown) return;
    mapScale = Math.min(tall / s.diagram.height, 72 / Math.max(s.diagram.width, 1), 0.2);
    const width = Math.max(30, Math.min(72, s.diagram.width * mapScale));
    const wide = width / Math.max(s.diagram.width, 1);
    const mapHeight = s.diagram.height * mapScale;
    const id = [graphView.side, graphView.block, graphView.colour, document.documentElement.className, width, mapHeight, graphView.matches.length, graphView.at].join();
    if (mapImage.id !== id) {
      const image = document.createElement('canvas');
      const g = fitCanvas(image, width, mapHeight);
      const found = new Set(graphView.matches);
      for (const node of s.nodes) {
        const {fill, stroke} = paint(node);
        g.fillStyle = found.size ? (found.has(node.id) ? colours.accent : colours.line) : graphView.colour === 'cost' ? fill : stroke;
        g.fillRect((node.x - node.width / 2) * wide, (node.y - node.height / 2) * mapScale, Math.max(1.5, node.width * wide), Math.max(found.has(node.id) ? 2.5 : 1, node.height * mapScale));
      }
      mapImage.id = id;
      mapImage.image = image;
    }
    const g = fitCanvas(map, width, mapHeight);
    g.drawImage(mapImage.image, 0, 0, width, mapHeight);
    g.strokeStyle = colours.accent;
    g.lineWidth = 1.5;
    g.strokeRect(Math.max(0.75, view.left * wide), Math.max(0.75, view.top * mapScale),
                 Math.min(width - 1.5, (view.right - view.left) * wide), Math.max(4, Math.min(mapHeight - 1.5, (view.bottom - view.top) * mapScale)));
  }
  function mapTo(event) {
    const s = scene();
    const box = map.getBoundingClientRect();
    const {height} = size();
    camera.y = (event.clientY - box.top) / mapScale - height / 2 / camera.scale;
    const x = (event.clientX - box.left) / box.width * s.diagram.width;
    if (s.diagram.width * camera.scale > size().width) camera.x = x - size().width / 2 / camera.scale;
    redraw();
  }
  map.addEventListener('pointerdown', (event) => { map.setPointerCapture(event.pointerId); mapTo(event); });
  map.addEventListener('pointermove', (event) => { if (event.buttons) mapTo(event); });

  // --- moving about
  function zoom(factor, x, y) {
    const scale = Math.min(3, Math.max(0.01, camera.scale * factor));
    camera.x += x / camera.scale - x / scale;
    camera.y += y / camera.scale - y / scale;
    camera.scale = scale;
    redraw();
  }
  const zoomMiddle = (factor) => zoom(factor, size().width / 2, size().height / 2);
  function fitAll() {
    const s = scene();
    const {width, height} = size();
    camera.scale = Math.min(1.2, width / (s.diagram.width + 80), height / (s.diagram.height + 80));
    camera.x = s.diagram.width / 2 - width / 2 / camera.scale;
    camera.y = s.diagram.height / 2 - height / 2 / camera.scale;
    redraw();
  }
  function centreOn(node) {
    const {width, height} = size();
    const covered = !details.hidden && width > 720 ? details.offsetWidth : 0;
    const low = !details.hidden && width <= 720 ? details.offsetHeight : 0;
    camera.scale = Math.max(camera.scale, 0.7);
    camera.x = node.x - (width - covered) / 2 / camera.scale;
    camera.y = node.y - (height - low) / 2 / camera.scale;
    redraw();
  }
  function nodeAt(event) {
    const box = canvas.getBoundingClientRect();
    const x = camera.x + (event.clientX - box.left) / camera.scale;
    const y = camera.y + (event.clientY - box.top) / camera.scale;
    const hit = visibleNodes(scene(), {left: x, right: x, top: y, bottom: y}).find((node) => Math.abs(node.y - y) <= node.height / 2 + 1);
    return hit ? hit.id : -1;
  }
  const pointers = new Map();
  let moved = 0;
  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, {x: event.clientX, y: event.clientY});
    if (pointers.size === 1) moved = 0;
  });
  canvas.addEventListener('pointermove', (event) => {
    const at = pointers.get(event.pointerId);
    if (!at) {
      const hover = nodeAt(event);
      canvas.classList.toggle('over', hover >= 0);
      if (hover !== graphView.hover) { graphView.hover = hover; redraw(); }
      const node = scene().nodes[hover];
      showTip(event, node ? tipOf(node) : '');
      return;
    }
    const before = [...pointers.values()].map((point) => ({...point}));
    moved += Math.abs(event.clientX - at.x) + Math.abs(event.clientY - at.y);
    at.x = event.clientX;
    at.y = event.clientY;
    const now = [...pointers.values()];
    if (moved > 4) canvas.classList.add('dragging');
    const middle = (points, axis) => points.reduce((sum, point) => sum + point[axis], 0) / points.length;
    camera.x -= (middle(now, 'x') - middle(before, 'x')) / camera.scale;
    camera.y -= (middle(now, 'y') - middle(before, 'y')) / camera.scale;
    if (now.length === 2) {
      const spread = (points) => Math.hypot(points[0].x - points[1].x, points[0].y - points[1].y);
      const box = canvas.getBoundingClientRect();
      zoom(spread(now) / Math.max(1, spread(before)), middle(now, 'x') - box.left, middle(now, 'y') - box.top);
    }
    showTip(event, '');
    redraw();
  });
  for (const name of ['pointerup', 'pointercancel']) {
    canvas.addEventListener(name, (event) => {
      if (pointers.delete(event.pointerId) && moved <= 4 && name === 'pointerup') select(nodeAt(event), false);
      canvas.classList.remove('dragging');
    });
  }
  canvas.addEventListener('pointerleave', (event) => { graphView.hover = -1; showTip(event, ''); redraw(); });
  canvas.addEventListener('wheel', (event) => {
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 18 : 1;
    const box = canvas.getBoundingClientRect();
    showTip(event, '');
    if (event.shiftKey) { camera.x += event.deltaY * unit / camera.scale; redraw(); }
    else zoom(Math.exp(-event.deltaY * unit * 0.0016), event.clientX - box.left, event.clientY - box.top);
  }, {passive: false});
  addEventListener('keydown', (event) => {
    if (byId('graph').hidden || event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = /^(INPUT|SELECT)$/.test(document.activeElement.tagName);
    if (event.key === 'Escape') { select(-1, false); document.activeElement.blur(); return; }
    if (typing) return;
    const step = 120 / camera.scale;
    const actions = {'/': () => byId('graph-search').focus(), '+': () => zoomMiddle(1.25), '=': () => zoomMiddle(1.25), '-': () => zoomMiddle(0.8), f: fitAll,
                     ArrowDown: () => { camera.y += step; }, ArrowUp: () => { camera.y -= step; }, ArrowLeft: () => { camera.x -= step; }, ArrowRight: () => { camera.x += step; }};
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
    redraw();
  });
  byId('zoom-in').addEventListener('click', () => zoomMiddle(1.25));
  byId('zoom-out').addEventListener('click', () => zoomMiddle(0.8));
  byId('zoom-fit').addEventListener('click', fitAll);

  // --- search
  const search = byId('graph-search');
  function find() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    graphView.matches = words.length ? scene().nodes.filter((node) => words.every((word) => node.text.includes(word))).map((node) => node.id) : [];
    graphView.at = -1;
    byId('graph-found').textContent = words.length ? (graphView.matches.length ? number(graphView.matches.length) : 'none') : '';
    redraw();
  }
  search.addEventListener('input', find);
  search.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !graphView.matches.length) return;
    graphView.at = (graphView.at + (event.shiftKey ? -1 : 1) + graphView.matches.length) % graphView.matches.length;
    byId('graph-found').textContent = `${graphView.at + 1} of ${graphView.matches.length}`;
    select(graphView.matches[graphView.at], true);
  });

  // --- one node
  function tipOf(node) {
    if (!node.op) return `${node.kind === 'i' ? 'input' : 'output'} ${node.name}\n${node.detail}`;
    const cost = node.explanation ? costOf(node.explanation) : -1;
    return [node.name, node.detail, node.op.kernel || '', cost >= 0 ? `${timeText(cost)}, ${percentText(cost / totalCost)}` : ''].filter(Boolean).join('\n');
  }
  function select(id, centre) {
    graphView.selected = id;
    details.hidden = id < 0;
    if (id >= 0) {
      details.replaceChildren(...describe(scene().nodes[id]));
      details.scrollTop = 0;
      if (centre) centreOn(scene().nodes[id]);
    }
    redraw();
  }
  const jump = (node) => make('button.link', {onclick: () => select(node.id, true)}, node.op ? `${node.op.type}  ${node.name}` : node.name);

  function valueRow(s, name, links) {
    const kind = s.weights.has(name) ? 'weight ' : '';
    const memory = graphView.side === 'after' && graphView.block === 0 ? memoryOf.get(name) : null;
    return make('dd', null, make('span.mono', null, name), ' ', make('span.soft', null, kind + (s.types.get(name) || s.weights.get(name) || '')),
                memory ? make('span.soft', null, ` · ${bytesText(memory.bytes)} at ${number(memory.offset)}`) : null,
                links.length ? make('div', null, links.slice(0, 12).map((node) => make('div', null, jump(node))), links.length > 12 ? make('span.soft', null, `and ${links.length - 12} more`) : null) : null);
  }
  function bindings(s, binding, node, into) {
    return Object.entries(binding).flatMap(([param, names]) => names.map((name) => [make('dt', null, param),
      valueRow(s, name, (into ? node.into : node.from).filter((edge) => edge.value === name).map((edge) => s.nodes[into ? edge.from : edge.to]))]));
  }
  function describe(node) {
    const s = scene();
    const close = make('button.close', {onclick: () => select(-1, false), 'aria-label': 'Close', title: 'Close (Esc)'}, '×');
    if (!node.op) {
      const others = node.kind === 'i' ? node.from.map((edge) => s.nodes[edge.to]) : node.into.map((edge) => s.nodes[edge.from]);
      return [close, make('h2', null, node.name), make('p.soft', null, node.kind === 'i' ? 'input of the program' : 'output of the program'), make('p.mono', null, node.detail),
              make('h3', null, node.kind === 'i' ? 'Read by' : 'Made by'), ...others.map((other) => make('div', null, jump(other)))];
    }
    const op = node.op;
    const why = node.explanation;
    const parts = [close, make('h2', null, dot(op.category), op.type), make('p.mono', null, node.name)];
    if (why && (op.kernel || why.reason)) {
      parts.push(make('h3', null, 'Runs as'), make('p', null, op.kernel ? make('span.mono', null, op.kernel) : 'decided when it runs', op.key ? make('span.soft', null, ' · ' + op.key) : null));
      if (why.algorithm) parts.push(make('p.soft', null, 'planned as ', make('span.mono', null, why.algorithm)));
      if (why.inserted_by) parts.push(make('p.soft', null, 'put in by ' + why.inserted_by));
    }
    if (why) parts.push(...costs(why));
    parts.push(make('h3', null, 'Arguments'), make('dl', null, bindings(s, op.inputs, node, true)), make('h3', null, 'Results'), make('dl', null, bindings(s, op.outputs, node, false)));
    const attributes = Object.entries(op.attributes);
    if (attributes.length) parts.push(make('h3', null, 'Attributes'), make('dl', null, attributes.map(([name, value]) => [make('dt', null, name), make('dd.mono', null, value)])));
    for (const block of op.blocks || []) parts.push(make('p', null, make('button.link', {onclick: () => open(graphView.side, block)}, `open block ${block}`)));
    if (why && why.candidates.length) parts.push(make('h3', null, `Kernels considered (${why.candidates.length})`), ...candidates(why));
    const past = history.get(keyOf(graphView.block, node.result)) || [];
    if (past.length) {
      parts.push(make('h3', null, 'What passes did'), make('div.diff', null, past.map(({pass, change}) => make('div.pair', null,
        make('button.link', {onclick: () => showPass(pass)}, pass.name), change.before ? make('div.gone', null, change.before) : null, change.after ? make('div.new', null, change.after) : null))));
    }
    return parts;
  }
  function costs(why) {
    const rows = [];
    const add = (name, value) => rows.push(make('dt', null, name), make('dd', null, value));
    if (why.estimated_us >= 0) add('estimated', timeText(why.estimated_us) + (why.family ? `, by the rates of ${why.family} kernels` : ''));
    if (why.measured_us >= 0) add('measured', `${timeText(why.measured_us)} (${percentText(why.measured_us / totalCost)})`);
    if (why.flops > 0) add('operations', number(why.flops / 1e6, 2) + ' MFLOP' + (why.measured_us > 0 ? `, ${number(why.flops / why.measured_us / 1e3, 1)} GFLOP/s` : ''));
    if (why.bytes > 0) add('moves', bytesText(why.bytes) + (why.measured_us > 0 ? `, ${number(why.bytes / why.measured_us / 1e3, 1)} GB/s` : ''));
    return rows.length ? [make('h3', null, 'Cost'), make('dl', null, rows)] : [];
  }

  // --- which program
  const sides = {before: 'Before', after: 'After'};
  function open(side, block) {
    const changed = side !== graphView.side || block !== graphView.block;
    const name = graphView.selected >= 0 ? scene().nodes[graphView.selected].result : null;
    graphView.side = side;
    graphView.block = Math.min(block, data[side].length - 1);
    for (const button of byId('graph-side').children) button.setAttribute('aria-pressed', button.dataset.side === side);
    const choice = byId('graph-block');
    choice.hidden = data[side].length < 2;
    choice.replaceChildren(...data[side].map((diagram, i) => make('option', {value: i}, i ? `block ${i} (${diagram.ops.length})` : `main (${diagram.ops.length})`)));
    choice.value = graphView.block;
    graphView.hover = -1;
    camera = cameraFor(scene());
    if (changed) {
      find();
      const same = name === null ? null : scene().nodes.find((node) => node.result === name);  // the same op on the other side
      select(same ? same.id : -1, Boolean(same));
    }
    legend();
    redraw();
  }
  byId('graph-side').append(...Object.keys(sides).map((side) => make('button', {'data-side': side, onclick: () => open(side, graphView.block)}, sides[side],
    make('span.soft', null, ' ' + number(countOps(data[side]))))));
  byId('graph-block').addEventListener('change', (event) => open(graphView.side, Number(event.target.value)));
  byId('graph-colour').addEventListener('change', (event) => { graphView.colour = event.target.value; legend(); redraw(); });

  function legend() {
    const entry = (colour, text) => make('span', null, make('span.dot', {style: `background: var(--${colour})`}), text);
    const s = scene();
    let entries;
    if (graphView.colour === 'change') {
      const count = (kind) => s.nodes.filter((node) => node.op && node.change === kind).length;
      entries = graphView.side === 'before' ? [entry('red', `gone (${number(count('remove'))})`), entry('amber', `changed (${number(count('change'))})`)]
                                            : [entry('green', `new (${number(count('add'))})`), entry('amber', `changed (${number(count('change'))})`)];
      entries.push(entry('strong-line', `kept (${number(count('same'))})`));
    } else if (graphView.colour === 'cost') {
      entries = [graphView.side === 'after' ? entry('red', `${measured ? 'measured' : 'estimated'} time, up to ${timeText(dearest())}`) : make('span', null, 'costs are known after optimising')];
    } else {
      const there = new Set(s.nodes.filter((node) => node.op).map((node) => node.op.category));
      entries = Object.entries(categories).filter(([category]) => there.has(category)).map(([category, text]) => entry(category, text));
    }
    byId('legend').replaceChildren(...entries);
  }

  showInGraph = (side, block, result) => {
    showTab('graph');
    open(side, block);
    const node = scene().nodes.find((each) => each.op && Object.values(each.op.outputs).flat().includes(result));
    if (node) select(node.id, true);
  };
  const repaint = () => { readColours(); redraw(); };
  addTab('graph', 'Graph', '', () => { readColours(); open(graphView.side, graphView.block); }, repaint);
}

// The candidates for an op, the picked one and the refused ones with their reasons.
function candidates(op) {
  const all = op.candidates.map((candidate) => make(candidate.picked ? 'div.candidate.picked' : candidate.refusal ? 'div.candidate.refused' : 'div.candidate', null,
    make('div.head', null, make('span.mono', null, candidate.kernel),
         candidate.refusal ? make('span.chip', null, 'refused') : make('span', null, timeText(candidate.kernel_us + candidate.conversion_us), candidate.picked ? make('span.chip.accent', {style: 'margin-left: 8px'}, 'picked') : null)),
    make('div.soft', null, candidate.refusal ? candidate.refusal
      : [candidate.key, candidate.measured_us >= 0 ? `measured ${timeText(candidate.measured_us)}` : '', `kernel ${timeText(candidate.kernel_us)}`, candidate.conversion_us > 0 ? `conversions ${timeText(candidate.conversion_us)}` : '', `priority ${candidate.priority}`].filter(Boolean).join(' · '))));
  if (op.assumed_dim) all.push(make('div.soft', null, `costs are estimates that count a dynamic dimension as ${op.assumed_dim}`));
  return all;
}
