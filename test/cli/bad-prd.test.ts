// Bad backlogs through the real binary: the place, what is wrong, what to do; exit 2 and nothing written or changed.
// Bad plans (B44, B45, B47) are tested in plan-scenarios.test.ts and test/formats. 100,000 tasks (B36) are tested in
// test/formats too; here it is only shown that such a file is taken.
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { claims, eventually, hangingAgent, inScratch, prd, refused, runScript, type Story, scripted } from './kit.ts';

const run =
  (text: string | Uint8Array, wanted: RegExp, flags: readonly string[] = []) =>
  async () => {
    await inScratch(async place => {
      scripted(place, ['US-001'], [claims()]);
      place.put('PRD.json', text);
      await refused(place, [...runScript, ...flags], wanted);
    });
  };

const chain = (count: number, close: boolean): readonly Story[] =>
  Array.from({ length: count }, (_, at) => {
    const before = at > 0 ? at - 1 : close ? count - 1 : undefined;
    return { id: `T-${at}`, ...(before === undefined ? {} : { depends_on: [`T-${before}`] }) };
  });

describe('the file itself', () => {
  it.concurrent('an empty file', run('', /PRD\.json:1:1: The document is empty\. Write it as a JSON object/));
  it.concurrent('a file that was cut off', run(prd().slice(0, 90), /PRD\.json:\d+:\d+: .*looks cut off/));
  it.concurrent('a list instead of an object', run('[]', /PRD\.json:1:1: The document must be an object/));
  it.concurrent(
    'an empty object: all that is missing at once',
    run('{}', /project is missing\.[\s\S]*userStories is missing/),
  );
  it.concurrent('no stories', run(prd([]), /userStories is empty\. Add at least one story/));
  it.concurrent(
    'bytes that are no UTF-8',
    run(Buffer.from('{"project":"\xe9"}', 'latin1'), /not valid UTF-8 at byte 12/),
  );
  it.concurrent('UTF-16', run(Buffer.from('\ufeff{}', 'utf16le'), /is UTF-16 text, not UTF-8\. Save it as UTF-8/));
  it.concurrent('a comment', run('{ // mine\n}', /PRD\.json:1:\d+: /));
  it.concurrent(
    'the key __proto__',
    run('{"project":"x","__proto__":{},"userStories":[]}', /"__proto__" is not allowed/),
  );
  it.concurrent(
    'B42: the markers of an unfinished merge',
    run(
      '{\n<<<<<<< HEAD\n"project":"x"\n=======\n"project":"y"\n>>>>>>> b\n}',
      /PRD\.json:2:1: The document holds the markers of an unfinished merge\. Resolve/,
    ),
  );

  it.concurrent('a folder, a device, a missing file, a link to nowhere', () =>
    inScratch(async place => {
      scripted(place, ['US-001'], [claims()]);
      mkdirSync(join(place.project, 'folder'));
      symlinkSync('nowhere', join(place.project, 'link.json'));
      const files: readonly (readonly [string, RegExp])[] = [
        ['folder', /folder is a directory\. Name the file in it/],
        ['/dev/null', /\/dev\/null is not a file\. Name a regular file/],
        ['nothing.json', /There is no file "nothing\.json"\.\n {2}Name another file/],
        ['link.json', /There is no file "link\.json"/],
      ];
      for (const [file, wanted] of files) await refused(place, ['run', file, '--script', 'script.json'], wanted);
    }));
});

describe('the stories', () => {
  it.concurrent('B34: the same id twice', run(prd(['A', 'A']), /id "A" is also the id of userStories\[0\]/));
  it.concurrent('B34: ids that differ by case', run(prd(['A', 'a']), /id "a" differs only by case from "A"/));
  it.concurrent('B34: ids that differ by Unicode form', run(prd(['e\u0301', '\u00e9']), /is not a valid id/));

  const needs = (id: string, ...depends_on: string[]): Story => ({ id, depends_on });
  it.concurrent('B35: a dependency on nothing', run(prd([needs('A', 'B')]), /names "B", which no story has as its id/));
  it.concurrent('B35: a dependency on itself', run(prd([needs('A', 'A')]), /names "A", the story itself/));
  it.concurrent(
    'B35: a cycle of two',
    run(prd([needs('A', 'B'), needs('B', 'A')]), /These 2 stories wait for each other: A -> B -> A\. Remove one/),
  );
  it.concurrent(
    'B35: a cycle of 1,000, printed in short',
    run(prd(chain(1000, true)), /These 1000 stories wait for each other: \S+ -> .* more .* -> \S+\. Remove one/),
  );
  it.concurrent('B36: 10,000 stories in one chain are taken', () =>
    inScratch(async place => {
      scripted(place, chain(10_000, false), [claims()]);
      const told = await place.ralph([...runScript, '--dry-run']);
      expect(told.code).toBe(0);
      expect(told.stdout).toContain('(0/10000 done)');
    }));

  const ids = ['US-001\n', 'A\u001b[31m', '<script>', '../x', 'a b', '', '-n', 'x'.repeat(10_000)];
  for (const id of ids) {
    it.concurrent(`B37: the id ${JSON.stringify(id.slice(0, 20))}`, async () => {
      const wanted =
        /userStories\[0\]\.id (is not a valid id|must not hold two dots in a row): ".*"\. Use 1 to 64 letters/;
      await inScratch(async place => {
        scripted(place, ['US-001'], [claims()]);
        place.put('PRD.json', prd([id]));
        const told = await refused(place, runScript, wanted);
        expect(told.stderr).not.toContain('\u001b');
        expect(told.stderr.length).toBeLessThan(600);
      });
    });
  }

  for (const passes of ['false', 0, null, 'yes']) {
    it.concurrent(
      `B38: passes ${JSON.stringify(passes)}`,
      run(prd([{ id: 'A', passes }]), /passes must be true or false, not .*\. Write (true|false), without quotes/),
    );
  }

  it.concurrent(
    'B39: a story without criteria',
    run(prd([{ id: 'A', criteria: [] }]), /criteria is empty: how will we know it is done\? .*--no-criteria/),
  );
  it.concurrent('B39: --no-criteria allows it', () =>
    inScratch(async place => {
      scripted(place, [{ id: 'A', criteria: [] }], [claims()]);
      expect((await place.ralph([...runScript, '--no-criteria'])).code).toBe(0);
    }));

  it.concurrent('B40: an agent that writes `passes: true` has claimed, not proven: the ledger wins', () =>
    inScratch(async place => {
      const cheat = prd([{ id: 'US-001', passes: true }]);
      scripted(place, ['US-001'], [{ steps: [{ write: 'PRD.json', text: cheat }, { say: 'All done.' }] }]);
      const told = await place.ralph([...runScript, '--verify', 'false', '--allow-red-start', '--max-iterations', '1']);
      expect(told.code).not.toBe(0);
      expect(told.stdout).toContain('0/1 tasks done');
      expect(JSON.parse(place.read('PRD.json')).userStories[0].passes).toBe(false);
    }));
});

describe('PROMPT.md, the instructions', () => {
  const instructions = (text: string | Uint8Array, wanted: RegExp) => () =>
    inScratch(async place => {
      scripted(place, ['US-001'], [claims()]);
      place.put('PROMPT.md', text);
      const told = await refused(place, runScript, wanted);
      expect(told.stderr).not.toContain('PRD.json');
    });
  it.concurrent('B43: empty', instructions('', /PROMPT\.md is empty\. Write the instructions, or delete the file/));
  it.concurrent('B43: 10 MB', instructions('a'.repeat(10_000_000), /PROMPT\.md is larger than 1 MB\. Make it smaller/));
  it.concurrent('B43: binary', instructions(Buffer.from([1, 0, 2]), /PROMPT\.md holds a NUL byte .* Save it as UTF-8/));
});

describe('the agent and its script', () => {
  const cases: readonly (readonly [string, readonly string[], RegExp, number])[] = [
    ['a command agent without a command', ['--agent', 'command'], /needs a program\.\n {2}Give one/, 7],
    [
      'an agent that is not installed',
      ['--agent-command', 'no-such-agent -p'],
      /no-such-agent is not found on PATH\.\n {2}Install it/,
      7,
    ],
    ['an agent that is no program', ['--agent-command', './PRD.json'], /\.\/PRD\.json is not an executable file/, 7],
    ['an unknown agent', ['--agent', 'hal'], /--agent: "hal" is not an agent; use one of claude/, 2],
    ['a script that is not there', ['--script', 'none.json'], /none\.json cannot be read: .*\n {2}Check the path/, 2],
    ['a script that is none', ['--script', 'PRD.json'], /PRD\.json: A script is an object with a list of turns/, 2],
  ];
  for (const [name, flags, wanted, code] of cases) {
    it.concurrent(`${name} is refused before anything is spent (exit ${code})`, () =>
      inScratch(async place => {
        place.put('PRD.json', prd());
        await refused(place, ['run', 'PRD.json', ...flags], wanted, { code });
      }));
  }

  it.concurrent('a backlog that breaks while the loop rests is refused at the next start and left as it is', () =>
    inScratch(async place => {
      place.put('PRD.json', prd());
      const agent = hangingAgent(place);
      const words = ['run', 'PRD.json', '--agent-command', agent.command];
      const live = place.start(words);
      await eventually('the agent works', async () => (await place.ralph(['logs'])).stdout.includes('at work'));
      live.child.kill('SIGTERM');
      expect((await live.ended).code).toBe(143);
      await agent.gone();
      const broken = prd().slice(0, -20);
      place.put('PRD.json', broken);
      const told = await place.ralph(words);
      expect(told.code).toBe(2);
      expect(told.stderr).toMatch(/ralph: PRD\.json:\d+:\d+: /);
      expect(place.read('PRD.json')).toBe(broken);
    }));
});
