// Whether a process works on a loop is one truth: after a kill -9 the file, both forms of `ralph status` and `loops list` agree.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isAlive } from '../../src/processes/identity.ts';
import type { LoopView } from '../../src/views/loop.ts';
import { eventually, hangingAgent, inScratch, prd, type Scratch } from './kit.ts';

interface StatusFile {
  readonly holder: { readonly pid: number; readonly start_time: string } | null;
  readonly renewed_at: string;
}

interface Told {
  readonly file: StatusFile;
  readonly view: LoopView;
  readonly words: string;
  readonly row: string;
  readonly listed: readonly LoopView[];
}

async function told(place: Scratch): Promise<Told> {
  const view = (await place.json(['status', '--json'])) as LoopView;
  const { loops } = (await place.json(['loops', 'list', '--json'])) as { loops: readonly LoopView[] };
  return {
    file: JSON.parse(readFileSync(join(place.home, 'loops', view.loop, 'status.json'), 'utf8')) as StatusFile,
    view,
    words: (await place.ralph(['status'])).stdout,
    row: (await place.ralph(['loops', 'list'])).stdout,
    listed: loops,
  };
}

/** As docs/library.md tells a reader of the file to judge it, on the machine where it was written. */
const isHeld = ({ holder }: StatusFile): boolean => holder !== null && isAlive(holder.pid, holder.start_time);

it('given a run, when it is killed with -9, then four places say that nobody holds it; before, that its process does', () =>
  inScratch(async place => {
    const agent = hangingAgent(place);
    place.put('PRD.json', prd());
    const live = place.start(['run', 'PRD.json', '--name', 'shop', '--agent-command', agent.command]);
    await live.says('agent at work');
    const before = await eventually('status.json is written', () => told(place).catch(() => undefined));
    expect(before.view.liveness).toMatchObject({ is: 'held', holder: { pid: live.child.pid } });
    expect(before.listed.map(one => one.liveness.is)).toEqual(['held']);
    expect(before.file.holder?.pid).toBe(live.child.pid);
    expect(isHeld(before.file)).toBe(true);
    expect(before.words).toContain(`process    process ${live.child.pid} on `);
    expect(before.row).toMatch(/^shop +running /);

    live.child.kill('SIGKILL');
    await Promise.all([live.ended, agent.gone()]);
    const after = await told(place);
    expect(after.view.liveness).toEqual({ is: 'nobody' });
    expect(after.listed.map(one => one.liveness)).toEqual([{ is: 'nobody' }]);
    expect(isHeld(after.file)).toBe(false);
    expect(after.words).toContain('process    NONE: no process works on it; go on: ralph resume shop');
    expect(after.words).not.toContain('healthy');
    expect(after.row).toMatch(/^shop +not running /);

    expect((await place.ralph(['stop', 'shop'])).code).toBe(0);
    const over = await told(place);
    expect(over.view.liveness).toEqual({ is: 'ended' });
    expect(over.file.holder).toBeNull();
  }));
