// Who started us: seen up to the first process that is visible, told apart by start time.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { containment } from '../../src/processes/contain.ts';
import { startTimeOf } from '../../src/processes/identity.ts';
import { type Ancestry, ancestry } from '../../src/processes/tree.ts';
import { orderFor, tell } from './fixture.ts';

const module = join(import.meta.dirname, '..', '..', 'src', 'processes', 'tree.ts');
const script = `import(${JSON.stringify(module)}).then(({ ancestry }) => console.log(JSON.stringify(ancestry())))`;

it('a grandchild finds its parent and us above it, with their start times, and the namespace that we are in', () => {
  const words = ['-c', '"$0" -e "$1"; exit', process.execPath, script];
  const { above, namespaceSince }: Ancestry = JSON.parse(execFileSync('sh', words, { encoding: 'utf8' }));
  expect(above[1]).toEqual({ pid: process.pid, startTime: startTimeOf(process.pid) });
  expect(above[0]?.pid).not.toBe(process.pid);
  expect(namespaceSince).toBe(ancestry().namespaceSince);
});

it.skipIf(containment() !== 'namespace')(
  'inside a namespace of ours it knows when that began (needs one)',
  async () => {
    const { output } = await tell(orderFor('', { command: process.execPath, args: ['-e', script] }));
    const { above, namespaceSince }: Ancestry = JSON.parse(output);
    expect(namespaceSince).toBe(above.at(-1)?.startTime);
    expect(Number(namespaceSince)).toBeGreaterThanOrEqual(Number(startTimeOf(process.pid)));
  },
);
