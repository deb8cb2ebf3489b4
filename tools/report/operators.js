'use strict';
// Every operator that runs: its kernel, its cost, and what else could have run.
let showOperators = () => {};
{
  const columns = [
    {id: 'order', title: '#', number: true, narrow: true, value: (op) => op.order, cell: (op) => number(op.order + 1)},
    {id: 'type', title: 'operator', value: (op) => op.type, cell: (op) => make('span', null, dot(categoryOfType.get(op.type) || 'other'), op.type)},
    {id: 'name', title: 'name', value: (op) => op.name, cell: (op) => make('span.mono', null, op.name)},
    {id: 'kernel', title: 'kernel', value: (op) => (pickedOf(op) || {kernel: ''}).kernel, cell: (op) => make('span.mono', null, (pickedOf(op) || {kernel: op.candidates.length ? 'decided when it runs' : '–'}).kernel)},
    {id: 'estimate', title: 'estimated', number: true, narrow: measured, value: (op) => op.estimated_us, cell: (op) => timeText(op.estimated_us)},
    ...(measured ? [{id: 'measured', title: 'measured', number: true, value: (op) => op.measured_us, cell: (op) => timeText(op.measured_us)}] : []),
    {id: 'share', title: 'share', number: true, narrow: true, value: costOf, cell: (op) => (costOf(op) >= 0 ? percentText(costOf(op) / totalCost) : '–')},
    ...(measured ? [{id: 'flops', title: 'GFLOP/s', number: true, narrow: true, value: (op) => rate(op.flops, op), cell: (op) => rateText(op.flops, op)},
                    {id: 'bytes', title: 'GB/s', number: true, narrow: true, value: (op) => rate(op.bytes, op), cell: (op) => rateText(op.bytes, op)}] : []),
    {id: 'refused', title: 'refused', number: true, narrow: true, value: refusals, cell: (op) => number(refusals(op))},
  ];
  function rate(amount, op) { return amount > 0 && op.measured_us > 0 ? amount / op.measured_us / 1e3 : -1; }
  function rateText(amount, op) { return rate(amount, op) < 0 ? '–' : number(rate(amount, op), 1); }
  function refusals(op) { return op.candidates.filter((candidate) => candidate.refusal).length; }
  data.ops.forEach((op, i) => { op.order = i; });

  const state = {column: columns.find((column) => column.id === 'share'), down: true, text: ''};
  const body = make('tbody');
  const heads = make('tr');
  const count = make('span.soft');
  const filter = make('input', {type: 'search', placeholder: 'Filter by type, name, kernel', 'aria-label': 'Filter', oninput: (event) => { state.text = event.target.value; fill(); }});

  function render(op) {
    const cells = columns.map((column) => make('td' + (column.number ? '.number' : '') + (column.narrow ? '.hide-narrow' : ''), null, column.cell(op)));
    const {row, inner} = openingRow('tr.row', columns.length, cells, () => [make('p.mono', {style: 'margin-bottom: 8px'}, op.text), make('p', {style: 'margin-bottom: 10px'},
      make('button.link', {onclick: () => showInGraph('after', op.block, op.results[0])}, 'show in the graph'), op.reason ? make('span.soft', null, ' · ' + op.reason) : null), ...candidates(op)]);
    const both = document.createDocumentFragment();
    both.append(row, inner);
    return both;
  }

  function fill() {
    const words = state.text.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = data.ops.filter((op) => {
      const text = [op.type, op.name, (pickedOf(op) || {kernel: 'no kernel'}).kernel].join('\n').toLowerCase();
      return words.every((word) => text.includes(word));
    });
    const {value, number: numeric} = state.column;
    shown.sort((a, b) => {
      const order = numeric ? value(a) - value(b) : value(a).localeCompare(value(b));
      return (state.down ? -order : order) || a.order - b.order;
    });
    count.textContent = `${plural(shown.length, 'operator')}, ${timeText(shown.reduce((sum, op) => sum + Math.max(costOf(op), 0), 0))}`;
    heads.replaceChildren(...columns.map((column) => make('th.sortable' + (column.number ? '.number' : '') + (column.narrow ? '.hide-narrow' : ''), {
      'aria-sort': column === state.column ? (state.down ? 'descending' : 'ascending') : 'none',
      onclick: () => { state.down = column === state.column ? !state.down : Boolean(column.number && column.id !== 'order'); state.column = column; fill(); }},
      column.title, column === state.column ? (state.down ? ' ↓' : ' ↑') : '')));
    body.replaceChildren();
    longList(shown, 150, render, body);
  }

  let made = false;
  addTab('operators', 'Operators', number(data.ops.length), () => {
    if (made) return;
    made = true;
    byId('operators').append(make('div.wide', null, make('div', {style: 'display: flex; gap: 14px; align-items: center; margin-bottom: 12px; flex-wrap: wrap'}, make('label.search', null, filter), count),
      make('div.card', {style: 'padding: 6px 8px'}, make('div.scroll', null, make('table', null, make('thead', null, heads), body)))));
    fill();
  });
  showOperators = (text) => {
    showTab('operators');
    filter.value = state.text = text;
    fill();
  };
}
