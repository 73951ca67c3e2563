import { tamper } from './tamper.ts';
import { readRows } from './figure.ts';
for (const set of ['own','first','second'] as const) for (const f of await tamper.measure(readRows(set))) console.log(set, f.measure, `${f.count}/${f.of}`, (100*f.count/f.of).toFixed(1), f.misses.map(m=>m.replace(/hc-tamper-|tmp-b-/,'')).join(' '));
