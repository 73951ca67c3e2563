// What an agent's last words do through the real program: a sentence closes the task, a list of work does not (B96).
import { expect, it } from 'vitest';
import { eventsOf, inScratch, prd } from './kit.ts';

const runs = (words: readonly string[]): string =>
  `cat > "prompt-$RALPH_ITERATION.md"; case $RALPH_ITERATION in ${words
    .map((text, at) => `${at + 1}) printf '${text}'`)
    .join(';; ')};; *) echo 'Nothing more.';; esac`;

it('given "Task US-001 is complete." as the last words, then the task is closed', () =>
  inScratch(async place => {
    place.put('PRD.json', prd(['US-001']));
    const told = await place.ralph([
      'run',
      'PRD.json',
      '--agent-command',
      runs(['All fine.\\n\\nTask US-001 is complete.\\n']),
    ]);
    expect(told.code).toBe(0);
    expect(JSON.parse(place.read('PRD.json')).userStories[0].passes).toBe(true);
  }));

it('given a list of open work, then nothing is closed, and the next prompt has the line to write', () =>
  inScratch(async place => {
    place.put('PRD.json', prd(['US-001']));
    const words = ['Still to do:\\n\\n* Task US-001 complete\\n* the docs\\n', 'US-001 is complete.\\n'];
    const told = await place.ralph(['run', 'PRD.json', '--agent-command', runs(words), '--max-iterations', '3']);
    expect(told.code).not.toBe(0);
    expect((await eventsOf(place)).filter(one => one['type'] === 'task.closed')).toEqual([]);
    for (const [prompt, why] of [
      ['prompt-2.md', 'it is an item of a list in which other work is named'],
      ['prompt-3.md', 'a line looks like one and is not'],
    ] as const) {
      expect(place.read(prompt)).toContain(`> No claim of US-001 was read: ${why}. When it is complete, write this`);
      expect(place.read(prompt)).toContain('with nothing before or behind it: Task US-001 complete\n');
    }
  }));
