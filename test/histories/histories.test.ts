// Ledgers of every release must fold under today's code to what they meant then: events are for ever.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { upcast } from '../../src/ledger/upcast.ts';
import { LoopFold } from '../../src/views/fold.ts';

const here = import.meta.dirname;
const releases = readdirSync(here).filter(name => statSync(join(here, name)).isDirectory());

describe('histories of earlier releases', () => {
  it('are kept', () => expect(releases).toEqual(['0.1.0', '0.2.0', '0.3.0', '0.4.0']));

  for (const release of releases) {
    for (const file of readdirSync(join(here, release)).filter(name => name.endsWith('.jsonl'))) {
      it(`${release}/${file} folds to the status it had`, () => {
        const view = new LoopFold();
        const lines = readFileSync(join(here, release, file), 'utf8')
          .trim()
          .split('\n');
        for (const line of lines) view.add(upcast(JSON.parse(line)));
        const wanted = readFileSync(join(here, release, file.replace('.jsonl', '.status.json')), 'utf8');
        expect(JSON.parse(JSON.stringify(view.status()))).toEqual(JSON.parse(wanted));
      });
    }
  }
});
