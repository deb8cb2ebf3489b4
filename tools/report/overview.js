'use strict';
// The totals, and where time and memory go.
{
  const operatorsBefore = countOps(data.before);
  const operatorsAfter = countOps(data.after);

  function tiles() {
    const memory = data.memory;
    const inserted = data.ops.filter((op) => op.inserted_by);
    const saved = memory.activation_bytes > 0 ? 1 - (memory.arena_bytes + memory.output_bytes) / memory.activation_bytes : 0;
    const ran = data.passes.filter((pass) => pass.ran).length;
    const skipped = data.passes.length - ran;
    return make('div.tiles', null,
      tile('Operators', `${number(operatorsBefore)} → ${number(operatorsAfter)}`,
           operatorsBefore > operatorsAfter ? `${percentText(1 - operatorsAfter / operatorsBefore)} fewer` : 'as many as before'),
      measured ? tile('One run, measured', timeText(data.measured_us), `median on ${plural(data.threads, 'thread')}; estimated ${timeText(data.estimated_us)}`)
               : tile('One run, estimated', timeText(data.estimated_us), `from shapes, on ${plural(data.threads, 'thread')}; --measure runs it`),
      tile('Optimised in', timeText(data.optimize_ms * 1e3), data.passes.length ? `${plural(ran, 'pass').replace('passs', 'passes')} ran${skipped ? `, ${skipped} skipped` : ''}` : 'no passes ran'),
      tile('Weights', bytesText(data.weight_bytes), (data.weight_bytes_before !== data.weight_bytes ? `${bytesText(data.weight_bytes_before)} as loaded; ` : '') + `packed ${bytesText(data.packed_bytes)}`),
      memory.unavailable ? tile('Activations', 'unknown', memory.unavailable)
        : tile('Activations', bytesText(memory.arena_bytes + memory.output_bytes), `${bytesText(memory.activation_bytes)} without sharing` + (saved > 0.005 ? `, ${percentText(saved)} saved` : '')),
      tile('Casts and copies', number(inserted.length), inserted.length ? 'put in by passes' : 'none put in'));
  }

  function groupedCosts(group) {
    const groups = new Map();
    for (const op of data.ops) {
      const name = group(op);
      const entry = groups.get(name) || {name, value: 0, count: 0};
      entry.value += Math.max(costOf(op), 0);
      entry.count += 1;
      groups.set(name, entry);
    }
    return [...groups.values()].sort((a, b) => b.value - a.value);
  }
  const costText = (item) => `${percentText(item.value / totalCost)} · ${timeText(item.value)} · ×${number(item.count)}`;

  function timeCards() {
    const types = groupedCosts((op) => op.type).slice(0, 12);
    const kernels = groupedCosts((op) => (pickedOf(op) || {kernel: 'no kernel'}).kernel).slice(0, 12);
    for (const item of types) {
      item.colour = `var(--${categoryOfType.get(item.name) || 'other'})`;
      item.go = () => showOperators(item.name);
    }
    for (const item of kernels) item.go = () => showOperators(item.name);
    const word = measured ? 'Measured' : 'Estimated';
    return make('div.columns', null, make('div.card', null, make('h2', null, word + ' time by operator'), bars(types, costText)),
                make('div.card', null, make('h2', null, word + ' time by kernel'), bars(kernels, costText)));
  }

  function dearest() {
    const ops = [...data.ops].sort((a, b) => costOf(b) - costOf(a)).slice(0, 10).filter((op) => costOf(op) > 0);
    return make('div.card', null, make('h2', null, 'The dearest operators'), bars(ops.map((op) => ({
      name: op.name, value: costOf(op), colour: `var(--${categoryOfType.get(op.type) || 'other'})`, go: () => showInGraph('after', op.block, op.results[0]), op})),
      (item) => `${percentText(item.value / totalCost)} · ${timeText(item.value)}`));
  }

  // The number of operators after each pass.
  function shrinking() {
    if (!data.passes.length) return null;
    const rows = [{name: 'as loaded', value: operatorsBefore}];
    for (const pass of data.passes) {
      if (pass.ran && (pass.ops_after !== pass.ops_before)) rows.push({name: pass.name, value: pass.ops_after, by: pass.ops_after - pass.ops_before, go: () => showPass(pass)});
    }
    return make('div.card', null, make('h2', null, 'Operators after each pass that changed their number'),
                bars(rows, (row) => number(row.value) + (row.by === undefined ? '' : ` (${row.by > 0 ? '+' : '−'}${number(Math.abs(row.by))})`)));
  }

  function casts() {
    const inserted = data.ops.filter((op) => op.inserted_by);
    if (!inserted.length) return null;
    const list = make('tbody');
    longList(inserted, 12, (op) => make('tr', null,
      make('td', null, make('button.link.mono', {onclick: () => showInGraph('after', op.block, op.results[0])}, op.name)),
      make('td', null, dot(categoryOfType.get(op.type) || 'convert'), op.type), make('td.number', null, timeText(costOf(op))), make('td.soft', null, op.inserted_by)), list);
    return make('div.card', null, make('h2', null, 'Casts and copies put in'), make('div.scroll', null,
      make('table', null, make('thead', null, make('tr', null, make('th', null, 'result'), make('th', null, 'op'), make('th.number', null, 'cost'), make('th', null, 'by'))), list)));
  }

  let made = false;
  addTab('overview', 'Overview', '', () => {
    if (made) return;
    made = true;
    byId('overview').append(make('div.wide', null, tiles(), timeCards(), make('div.columns', null, dearest(), shrinking()), casts()));
  });
}
