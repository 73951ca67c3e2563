// An agent, or anything that it starts, may look at its loop but not command it: refused, recorded, nothing changed (F34).
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commands, nameOf } from '../../src/cli/command-table.ts';
import { confinementKind } from '../../src/processes/confine.ts';
import { binary, eventsOf, inScratch, pinnedNode, prd, runScript, type Scratch, scripted } from './kit.ts';

const promptOf = (place: Scratch): string => join(place.root, 'prompt');

/** An agent that tries these, then these without its variables, notes what was said and every exit code, and claims. */
function meddler(place: Scratch, lines: readonly string[], cleared: readonly string[] = []): string {
  const path = join(place.root, 'meddler');
  const tries = (all: readonly string[]): readonly string[] =>
    all.map(line => `ralph ${line} >>said.txt 2>&1; echo "exit $?" >>said.txt`);
  const script = [
    '#!/bin/sh',
    `cat >'${promptOf(place)}'`,
    'task=$RALPH_TASK',
    `export RALPH_HOME='${place.home}'`,
    `ralph() { '${pinnedNode}' '${binary}' "$@"; }`,
    ...tries(lines),
    'unset RALPH_LOOP RALPH_TASK RALPH_ITERATION',
    ...tries(cleared),
    'echo "$task" >>work.txt',
    'echo "Task $task complete"',
  ];
  writeFileSync(path, `${script.join('\n')}\n`);
  chmodSync(path, 0o755);
  return path;
}

const runWith = (agent: string, sandbox: string): readonly string[] => [
  'run',
  'PRD.json',
  '--agent-command',
  agent,
  '--sandbox',
  sandbox,
  '--detect-checks',
  'none',
  '--no-input',
];

const codes = (text: string): readonly string[] => text.match(/^exit \d+$/gm) ?? [];

it('an agent is refused every command to its loop, also without its variables, and the ledger says so', () =>
  inScratch(async place => {
    place.put('PRD.json', prd());
    place.put('other.json', prd());
    const open = ['stop', 'pause --now', 'tell "go on"', 'answer E1 --abort', 'resume -n 900', 'run other.json'];
    const cleared = ['stop', 'run PRD.json --new'];
    const tried = [...open, ...cleared];
    const told = await place.ralph(runWith(meddler(place, open, cleared), 'none'));
    expect(told.code, told.stderr).toBe(0);
    const said = place.read('said.txt');
    expect(codes(said)).toEqual(tried.map(() => 'exit 2'));
    expect(readFileSync(promptOf(place), 'utf8')).not.toContain('read-only here');
    const words = /was refused: it comes from inside loop shop \(iteration 1 \(command\)\)/g;
    expect(said.match(words)).toHaveLength(tried.length);
    const all = await eventsOf(place);
    const refused = all.filter(one => one['type'] === 'command.refused');
    expect(refused.map(one => one['by'])).toEqual(tried.map(() => 'iteration 1 (command)'));
    expect(refused.map(one => one['command'])).toEqual(tried.map(line => line.replaceAll('"', '')));
    const took = ['stop.asked', 'loop.paused', 'guidance.given', 'limits.changed', 'escalation.answered'];
    expect(all.filter(one => took.includes(String(one['type'])))).toEqual([]);
    expect(all.filter(one => one['type'] === 'loop.ended')).toMatchObject([{ reason: 'goal_achieved' }]);
    expect(await place.json(['loops', 'list', '--json'])).toMatchObject({ loops: [{ name: 'shop' }] });
  }));

it('looking stays allowed to an agent', () =>
  inScratch(async place => {
    place.put('PRD.json', prd());
    const looks = ['status', 'report', 'run PRD.json --dry-run --agent-command true'];
    const told = await place.ralph(runWith(meddler(place, looks), 'none'));
    expect(told.code, told.stderr).toBe(0);
    expect(codes(place.read('said.txt'))).toEqual(looks.map(() => 'exit 0'));
    expect((await eventsOf(place)).filter(one => one['type'] === 'command.refused')).toEqual([]);
  }));

it('a check is as little a person as an agent: what it calls was perhaps written by one', () =>
  inScratch(async place => {
    scripted(place, ['US-001'], [{ steps: [{ write: 'work.txt', text: 'done' }, { claim: true }] }]);
    const check = meddler(place, [], ['stop']);
    const told = await place.ralph([...runScript, '--verify', check, '--sandbox', 'none']);
    expect(told.code, told.stderr).toBe(0);
    expect(place.read('said.txt')).toContain('ralph stop was refused');
    const refused = (await eventsOf(place)).filter(one => one['type'] === 'command.refused');
    expect(refused).toMatchObject([{ by: 'a process of the loop', command: 'stop' }]);
  }));

it.skipIf(confinementKind() === 'none')('in a sandbox it is told where it is, and finds nothing to command', () =>
  inScratch(async place => {
    place.put('PRD.json', prd());
    const agent = meddler(place, ['stop', 'run PRD.json'], ['stop', 'run PRD.json --agent-command true']);
    const told = await place.ralph(runWith(agent, 'bwrap'));
    expect(told.code, told.stderr).toBe(0);
    const said = place.read('said.txt');
    expect(codes(said)).toEqual(['exit 2', 'exit 2', 'exit 2', 'exit 2']);
    expect(said.match(/was refused: it comes from inside a loop \(iteration 1\)/g)).toHaveLength(2);
    expect(said.split('exit 2')[1]).not.toContain('no loop yet');
    expect(readFileSync(promptOf(place), 'utf8')).toContain('## What is read-only here');
    const all = await eventsOf(place);
    expect(all.filter(one => one['type'] === 'stop.asked')).toEqual([]);
    expect(await place.json(['loops', 'list', '--json'])).toMatchObject({ loops: [{ name: 'shop' }] });
  }),
);

it('loops may be nested by who says so, never on the same document', () =>
  inScratch(async place => {
    place.put('PRD.json', prd());
    mkdirSync(join(place.project, 'inner')); // one loop at a time in one folder
    place.put('inner/other.json', prd(['US-009']));
    const nested =
      '--agent-command \'cat >/dev/null; echo x >>inner.txt; echo "Task US-009 complete"\' --detect-checks none';
    const lines = [
      `status >/dev/null; (cd inner && ralph run other.json --name inner ${nested})`,
      `run PRD.json ${nested}`,
      'stop',
    ];
    const agent = meddler(place, lines);
    const told = await place.ralph([...runWith(agent, 'none'), '--agent-env', 'RALPH_ALLOW_NESTED'], {
      env: { RALPH_ALLOW_NESTED: '1' },
    });
    expect(told.code, told.stderr).toBe(0);
    const said = place.read('said.txt');
    expect(codes(said), said).toEqual(['exit 0', 'exit 2', 'exit 2']);
    expect(said).toContain('note: a loop inside iteration 1 (command) of another');
    expect(place.read('inner/inner.txt')).toBe('x\n');
  }));

it('every command is refused to an agent unless it only looks', () => {
  const looking =
    /^(demo|version|status|inbox|explain|events|logs|report|doctor|diff|(loops|agents|audit|checkpoint) \w+|notes show|plan (lint|show)|task (list|show|export)|hook (event|status|stop|test))$/;
  const names = commands.filter(row => !row.changes).map(row => nameOf(row).join(' '));
  expect(names.filter(name => !looking.test(name) || /create|restore|prune|rm|undo/.test(name))).toEqual([]);
});
