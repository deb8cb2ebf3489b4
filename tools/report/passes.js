'use strict';
// Each pass: time, matches, what it changed; or why it was skipped.
let showPass = () => {};
{
  const rows = new Map();
  const longest = Math.max(...data.passes.map((pass) => pass.milliseconds), 1e-6);

  function chips(pass) {
    const added = pass.changes.filter((change) => !change.before).length;
    const removed = pass.changes.filter((change) => !change.after).length;
    const changed = pass.changes.length - added - removed;
    const list = [];
    if (removed) list.push(make('span.chip.remove', null, `−${number(removed)}`), ' ');
    if (added) list.push(make('span.chip.add', null, `+${number(added)}`), ' ');
    if (changed) list.push(make('span.chip.change', null, `~${number(changed)}`));
    if (!list.length) list.push(make('span.soft', null, pass.changed ? 'types only' : 'nothing'));
    return list;
  }

  function inside(pass) {
    const parts = [];
    if (pass.notes.length) parts.push(make('h2', null, 'In its own words'), longList(pass.notes, 40, (note) => make('div.note', null, note), make('div.diff', {style: 'margin-bottom: 14px'})));
    if (pass.changes.length) {
      parts.push(make('h2', null, `Operators that it changed (${number(pass.changes.length)})`));
      // Removals and additions belong together; a list per kind would tear them apart, so they go by name.
      parts.push(longList(pass.changes, 60, (change) => make('div.pair', null, change.before ? make('div.gone', null, change.before) : null, change.after ? make('div.new', null, change.after) : null), make('div.diff')));
    }
    if (!parts.length) parts.push(make('span.soft', null, pass.ran ? 'It left the program as it was.' : pass.skipped_because));
    return parts;
  }

  function render(pass, i) {
    const cells = [make('td.number.soft.hide-narrow', null, i + 1), make('td', null, make('span', {style: 'font-weight: 550'}, pass.name)),
      pass.ran ? [make('td.number', null, timeText(pass.milliseconds * 1e3)),
                  make('td.hide-narrow', {style: 'width: 16%; min-width: 70px; padding-top: 11px'}, make('div.bar', null, make('i', {style: `width: ${100 * pass.milliseconds / longest}%`}))),
                  make('td.number', null, pass.matches < 0 ? '' : number(pass.matches)),
                  make('td', null, chips(pass)),
                  make('td.number.hide-narrow', null, pass.ops_before === pass.ops_after ? number(pass.ops_after) : `${number(pass.ops_before)} → ${number(pass.ops_after)}`)]
               : make('td', {colspan: 5}, 'skipped: ' + pass.skipped_because)];
    const {row, inner, toggle} = openingRow(pass.ran ? 'tr.row' : 'tr.row.muted', 7, cells, () => inside(pass));
    rows.set(pass, {row, toggle});
    return [row, inner];
  }

  let made = false;
  function open() {
    if (made) return;
    made = true;
    if (!data.passes.length) {
      byId('passes').append(make('div.wide', null, make('p.soft', null, 'No passes ran: the model was optimised before, or none were asked for.')));
      return;
    }
    byId('passes').append(make('div.wide', null, make('div.card', null, make('div.scroll', null, make('table', null,
      make('thead', null, make('tr', null, make('th.number.hide-narrow', null, '#'), make('th', null, 'pass'), make('th.number', null, 'time'), make('th.hide-narrow', null, ''), make('th.number', null, 'matches'), make('th', null, 'ops changed'), make('th.number.hide-narrow', null, 'ops'))),
      make('tbody', null, data.passes.map(render)))), make('p.soft', {style: 'margin-top: 10px; font-size: 12px'}, `${timeText(data.optimize_ms * 1e3)} in all. Choose a pass to see what it changed.`))));
  }
  addTab('passes', 'Passes', data.passes.length ? number(data.passes.length) : '', open);
  showPass = (pass) => {
    showTab('passes');
    rows.get(pass).toggle(true);
    rows.get(pass).row.scrollIntoView({block: 'start'});
  };
}
