'use strict';
// The memory plan of a block: every value's place in the arena, over the statements that need it.
{
  let memory = data.memory;
  let block = 0;
  const canvas = make('canvas', {'aria-label': 'Memory: offset over statements'});
  const margin = {left: 68, right: 14, top: 14, bottom: 40};
  let opAt = new Map();
  let hover = null;
  let boxes = [];

  function draw() {
    const width = canvas.parentElement.clientWidth;
    const height = Math.max(260, Math.min(560, innerHeight - 330));
    const g = fitCanvas(canvas, width, height);
    const plot = {x: margin.left, y: margin.top, width: width - margin.left - margin.right, height: height - margin.top - margin.bottom};
    const steps = Math.max(1, memory.statements.length);
    const most = Math.max(1, memory.arena_bytes);
    const x = (step) => plot.x + plot.width * step / steps;
    const y = (offset) => plot.y + plot.height * (1 - offset / most);
    g.font = '11px system-ui, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif';
    g.fillStyle = css('soft');
    g.strokeStyle = css('line');
    g.textAlign = 'right';
    const step = niceStep(most, 5);
    for (let tick = 0; tick <= most; tick += step) {
      g.beginPath();
      g.moveTo(plot.x, y(tick));
      g.lineTo(plot.x + plot.width, y(tick));
      g.stroke();
      g.fillText(bytesText(tick), plot.x - 8, y(tick) + 4);
    }
    g.textAlign = 'center';
    const every = Math.max(1, niceStep(steps, Math.max(2, plot.width / 90)));
    for (let tick = 0; tick < steps; tick += every) g.fillText(number(tick), x(tick + 0.5), plot.y + plot.height + 16);
    g.fillText('statement', plot.x + plot.width / 2, plot.y + plot.height + 34);
    boxes = memory.values.map((value) => ({value, left: x(value.first), right: Math.max(x(value.last + 1), x(value.first) + 1), top: y(value.offset + value.bytes), bottom: y(value.offset)}));
    for (const box of boxes) {
      const op = opAt.get(box.value.op);
      const category = op ? op.category : 'other';
      const [w, h] = [box.right - box.left, Math.max(box.bottom - box.top, 0.6)];
      g.fillStyle = css(category + '-soft');
      g.fillRect(box.left, box.top, w, h);
      if (w > 2.5 && h > 2.5) {
        g.strokeStyle = css(category);
        g.lineWidth = 0.8;
        g.strokeRect(box.left + 0.4, box.top + 0.4, w - 0.8, h - 0.8);
      } else {
        g.fillStyle = css(category);
        g.fillRect(box.left, box.top, Math.max(w, 1), h);
      }
      if (w > 60 && h > 15) {
        g.save();
        g.beginPath();
        g.rect(box.left, box.top, w - 4, h);
        g.clip();
        g.fillStyle = css('ink');
        g.textAlign = 'left';
        g.fillText(box.value.name, box.left + 5, box.top + 12);
        g.restore();
      }
    }
    if (hover) {
      g.strokeStyle = css('ink');
      g.lineWidth = 2;
      g.strokeRect(hover.left, hover.top, hover.right - hover.left, Math.max(hover.bottom - hover.top, 1));
    }
    g.setLineDash([5, 4]);
    g.strokeStyle = css('accent');
    g.lineWidth = 1.5;
    g.beginPath();
    g.moveTo(plot.x, y(memory.least_bytes));
    g.lineTo(plot.x + plot.width, y(memory.least_bytes));
    g.stroke();
    g.setLineDash([]);
  }
  function niceStep(range, count) {
    const rough = range / count;
    const power = Math.pow(10, Math.floor(Math.log10(Math.max(rough, 1e-9))));
    return power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  }
  function boxAt(event) {
    const bounds = canvas.getBoundingClientRect();
    const [px, py] = [event.clientX - bounds.left, event.clientY - bounds.top];
    return boxes.find((box) => px >= box.left - 1 && px <= box.right + 1 && py >= box.top - 1 && py <= box.bottom + 1) || null;
  }
  canvas.addEventListener('pointermove', (event) => {
    const box = boxAt(event);
    if ((box && box.value) !== (hover && hover.value)) { hover = box; draw(); }
    canvas.style.cursor = box ? 'pointer' : '';
    if (!box) { showTip(event, ''); return; }
    const value = box.value;
    showTip(event, `${value.name}\n${value.type}, ${bytesText(value.bytes)} at ${number(value.offset)}\nneeded by statements ${value.first} to ${value.last}` + (value.shared_by.length ? `\nshared by ${value.shared_by.slice(0, 6).join(', ')}${value.shared_by.length > 6 ? ', …' : ''}` : ''));
  });
  canvas.addEventListener('pointerleave', (event) => { hover = null; showTip(event, ''); draw(); });
  canvas.addEventListener('click', (event) => { const box = boxAt(event); if (box) showInGraph('after', block, box.value.name); });

  function largest() {
    const body = make('tbody');
    longList([...memory.values].sort((a, b) => b.bytes - a.bytes), 15, (value) => make('tr', null,
      make('td', null, make('button.link.mono', {onclick: () => showInGraph('after', block, value.name)}, value.name)), make('td.mono.hide-narrow', null, value.type), make('td.number', null, bytesText(value.bytes)),
      make('td.number.hide-narrow', null, number(value.offset)), make('td.number', null, `${value.first} – ${value.last}`), make('td.soft.hide-narrow', null, value.shared_by.length ? plural(value.shared_by.length, 'value') : '')), body);
    return make('div.card', null, make('h2', null, 'The largest values'), make('div.scroll', null, make('table', null,
      make('thead', null, make('tr', null, make('th', null, 'value'), make('th.hide-narrow', null, 'type'), make('th.number', null, 'bytes'), make('th.number.hide-narrow', null, 'offset'), make('th.number', null, 'statements'), make('th.hide-narrow', null, 'shares with'))), body)));
  }

  function choice() {
    const blocks = Object.keys(data.block_memory);
    if (!blocks.length) return null;
    const select = make('select', {'aria-label': 'Block', onchange: () => show(Number(select.value))}, [0, ...blocks].map((i) => make('option', {value: i}, Number(i) ? `block ${i}` : 'main')));
    select.value = block;
    return select;
  }
  function show(of) {
    block = of;
    memory = block ? data.block_memory[block] : data.memory;
    opAt = new Map(data.after[block].ops.map((op) => [op.name, op]));
    hover = null;
    made = false;
    byId('memory').replaceChildren();
    open();
  }

  let made = false;
  function open() {
    if (!made) {
      made = true;
      const shapes = Object.entries(memory.inputs).map(([name, type]) => `${name} ${type}`).join(', ');
      if (memory.unavailable) {
        byId('memory').append(make('div.wide', null, make('div.card', null, make('h2', null, 'There is no memory plan'), make('p', null, memory.unavailable), shapes ? make('p.soft', null, 'tried with ' + shapes + '; --shape gives others') : null)));
        return;
      }
      byId('memory').append(make('div.wide', null, choice(), make('div.tiles', null,
        tile('Arena', bytesText(memory.arena_bytes), `${bytesText(memory.least_bytes)} is alive at once, at most`),
        tile('All activations', bytesText(memory.activation_bytes), `${plural(memory.values.length, 'place')} in the arena`),
        tile('Results', bytesText(memory.output_bytes), 'have memory of their own'),
        tile('Scratch', bytesText(memory.scratch_bytes), 'the most that one kernel asks for'),
        tile('Weights', bytesText(data.weight_bytes), `packed for kernels: ${bytesText(data.packed_bytes)}`)),
        make('div.card', null, make('h2', null, 'Where values lie, and for how long'), make('p.soft', {style: 'font-size: 12px; margin: -8px 0 8px'}, `${shapes ? `for ${shapes}; ` : ''}the dashed line is the least that is needed`), make('div.chart', null, canvas)),
        largest()));
    }
    if (!memory.unavailable) draw();
  }
  addTab('memory', 'Memory', '', () => (made ? open() : show(block)), () => { if (made && !memory.unavailable) draw(); });
}
