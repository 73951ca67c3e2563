// Bad flags, variables and settings through the real binary: one clear sentence, exit 2, and nothing written.
// The ids are those of docs/faults.md; the rest of its command line part is in bad-places.test.ts.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { asks, claims, inScratch, prd, refused, runScript, type Scratch, scripted } from './kit.ts';

const secret = ['sk', 'ant', 'api03', 'Zx81kQ02mLw93nRt5vBy7cDf4gHj6kPq'].join('-');

/** A project that would run, so that only the bad input can be why it does not. */
const inProject = (work: (place: Scratch) => Promise<void>) => () =>
  inScratch(async place => {
    scripted(place, ['US-001'], [claims()]);
    await work(place);
  });

const refuses = (flags: readonly string[], wanted: RegExp) =>
  inProject(async place => {
    await refused(place, [...runScript, ...flags], wanted);
  });

describe('limits', () => {
  it.concurrent(
    'B01: --max-iterations=3 and --max-iterations 3 and -n 3 mean the same',
    inProject(async place => {
      const cards = await Promise.all(
        [['--max-iterations=3'], ['--max-iterations', '3'], ['-n', '3'], ['-n3']].map(flags =>
          place.ralph([...runScript, '--dry-run', ...flags]),
        ),
      );
      for (const { code, stdout } of cards) {
        expect(code).toBe(0);
        expect(stdout).toContain('limits      3 iterations');
        expect(stdout).toBe(cards[0]?.stdout);
      }
      expect(existsSync(place.home)).toBe(false);
    }),
  );

  for (const value of ['0', '-1', '1e3', '3.5', '٣', '', '999999999999999999999', '+3', '0x10', 'many']) {
    it.concurrent(
      `B02: --max-iterations ${JSON.stringify(value)} is refused`,
      refuses(['--max-iterations', value], /--max-iterations: ".*" is not a whole number from 1 .* plain digits/),
    );
  }

  it.concurrent(
    'B02: unlimited needs the word, and another limit',
    inProject(async place => {
      const { stdout } = await place.ralph([...runScript, '--dry-run', '--max-iterations', 'unlimited']);
      expect(stdout).toContain('iterations unlimited, $50.00');
      const all = ['--max-iterations', 'unlimited', '--max-cost', 'unlimited'];
      await refused(place, [...runScript, ...all], /Nothing bounds this loop: .*\. Set one of --max-iterations/);
    }),
  );

  it.concurrent(
    'B03: --max-cost $5 and --max-cost 5 mean five dollars',
    inProject(async place => {
      for (const amount of ['$5', '5', '5.00']) {
        const { stdout } = await place.ralph([...runScript, '--dry-run', '--max-cost', amount]);
        expect(stdout).toContain('50 iterations, $5.00');
      }
    }),
  );

  for (const value of ['5,00', 'NaN', 'Infinity', '-1', '1e-9', '0', '', '5€']) {
    it.concurrent(
      `B03: --max-cost ${JSON.stringify(value)} is refused and never read as 0`,
      refuses(['--max-cost', value], /--max-cost: ".*" is not an amount in dollars above 0 .* like 5, \$5 or 0\.50/),
    );
  }

  it.concurrent(
    'B04: --max-duration 2h30m is two and a half hours',
    inProject(async place => {
      const { stdout } = await place.ralph([...runScript, '--dry-run', '--max-duration', '2h30m']);
      expect(stdout).toMatch(/2h ?30m of work/);
    }),
  );

  for (const value of ['90', '1y', '-5m', '400d', '', '1h 30m x']) {
    it.concurrent(
      `B04: --max-duration ${JSON.stringify(value)} is refused`,
      refuses(['--max-duration', value], /--max-duration: ".*" is not a duration above 0 and up to 30d; .* like 2h30m/),
    );
  }

  it.concurrent(
    'of a limit given twice the last one counts, and the card says so',
    inProject(async place => {
      const { stdout } = await place.ralph([...runScript, '--dry-run', '-n', '3', '-n', '4']);
      expect(stdout).toContain('limits      4 iterations');
    }),
  );
});

describe('words that are not understood', () => {
  const typos: readonly (readonly [readonly string[], RegExp])[] = [
    [['run', 'PRD.json', '--max-iteration', '3'], /Unknown option '--max-iteration'; did you mean --max-iterations\?/],
    [['run', 'PRD.json', '--max-iteration=3'], /Unknown option '--max-iteration=3'.*/],
    [['rum', 'PRD.json'], /Unknown command 'rum'; did you mean run\?/],
    [['loops', 'lst'], /Unknown command 'lst'; did you mean list\?/],
    [['help', 'statsu'], /Unknown command 'statsu'; did you mean status\?/],
    [['loops'], /loops needs a command: list, show or rm/],
    [['audit'], /audit needs a command: verify/],
    [['run', 'PRD.json', 'PRD2.json'], /Give one document at a time, or a goal in quotes: ralph run PRD\.json/],
    [['status', '--verify', 'x'], /Unknown option '--verify'/],
    [['run', 'PRD.json', '--max-cost'], /argument missing/],
  ];
  for (const [words, wanted] of typos) {
    it.concurrent(
      `B05: ralph ${words.join(' ')} says what was meant and starts nothing`,
      inProject(async place => {
        await refused(place, words, wanted);
      }),
    );
  }
});

describe('texts', () => {
  it.concurrent(
    'B06: a flag inside the text of `tell` is text; a note says so',
    inProject(async place => {
      scripted(place, ['US-001'], [{ steps: [asks] }]);
      await place.ralph([...runScript, '--max-iterations', '3']);
      const told = await place.ralph(['tell', 'do it --max-iterations 9']);
      expect(told.code).toBe(0);
      expect(told.stderr).toMatch(/note: the text holds something like a flag .* sets nothing/);
      expect((await place.ralph(['loops', 'show', 'shop', '--json'])).stdout).toContain('"iterationsMax": 3');
    }),
  );

  for (const promise of ['ALL DONE', `it's "done"`, '* ? [a]', '🎉 fertig']) {
    it.concurrent(
      `B07: the promise ${promise} is compared literally: exactly it is read (and refused while a task is open)`,
      inProject(async place => {
        const readFrom = async (said: string): Promise<string> => {
          scripted(place, ['US-001'], [{ steps: [{ promise: said }] }]);
          const told = await place.ralph([...runScript, '--promise', promise, '--max-iterations', '1', '--new']);
          expect(told.code).toBe(3);
          return told.stderr;
        };
        expect(await readFrom(promise)).toContain(`the promise ${promise} was refused: 1 task still open`);
        expect(await readFrom(`${promise}!`)).toContain('resembles the promise but is not it');
      }),
    );
  }

  it.concurrent(
    'B07: a promise of two lines is refused',
    refuses(
      ['--promise', 'ALL\nDONE'],
      /--promise: .* contains a line break or control character; write it on one line/,
    ),
  );

  it.concurrent(
    'B09: a promise that stands in PROMPT.md is accepted with a note',
    inProject(async place => {
      place.put('PROMPT.md', 'When all is done, end with\n<promise>DONE</promise>\n');
      const told = await place.ralph(runScript);
      expect(told.code).toBe(0);
      expect(told.stderr).toMatch(/note: PROMPT\.md holds the promise DONE .* only the agent's own last line counts/);
    }),
  );

  const inputs: readonly (readonly [string, string | Buffer, RegExp])[] = [
    ['empty', '', /The guidance is empty/],
    ['blank', ' \n\t ', /The guidance is empty/],
    ['binary', Buffer.from([0x41, 0x00, 0xff, 0xfe]), /Standard input is not text \(UTF-8\)/],
    ['50 MB', Buffer.alloc(50_000_000, 'a'), /larger than 1 MB/],
  ];
  for (const [name, input, wanted] of inputs) {
    it.concurrent(
      `B10: \`tell -\` refuses ${name} standard input`,
      inProject(async place => {
        await refused(place, ['tell', '-'], wanted, { input });
      }),
    );
  }

  it.concurrent(
    'B10: `tell -` gives up on standard input that never ends',
    inProject(async place => {
      await refused(place, ['tell', '-'], /Standard input gave no end within 10 s\.\n {2}Close it/, {
        holdsInput: true,
      });
    }),
  );

  it.concurrent(
    'B11: `run -` is refused, because a PRD is written back',
    inProject(async place => {
      await refused(place, ['run', '-', '--script', 'script.json'], /cannot come from standard input/, {
        input: prd(),
      });
    }),
  );

  const names: readonly (readonly [string, string])[] = [
    ['../../Etc', 'etc'],
    ['a/b', 'a-b'],
    ['Füße', 'fu-e'],
    ['x'.repeat(300), 'x'.repeat(63)],
    ['\u202eabc', 'abc'],
  ];
  for (const [name, slug] of names) {
    it.concurrent(
      `B13: the name ${JSON.stringify(name.slice(0, 20))} becomes ${slug.slice(0, 20)}, and that is said`,
      inProject(async place => {
        const told = await place.ralph([...runScript, '--name', name]);
        expect(told.code).toBe(0);
        expect(told.stderr).toContain(`is written as ${slug}.`);
        expect((await place.ralph(['loops', 'list'])).stdout).toMatch(new RegExp(`^${slug} `));
      }),
    );
  }
  for (const name of ['', '.', '..', '😀', 'CON', 'nul']) {
    it.concurrent(
      `B13: the name ${JSON.stringify(name)} is refused`,
      refuses(['--name', name], /--name: ".*" .*; use a name like/),
    );
  }

  const places: readonly (readonly string[])[] = [
    ['run', 'PRD.json', '--token', secret],
    ['run', 'PRD.json', `--token=${secret}`],
    ['run', 'PRD.json', '--agent-command', `agent --key ${secret}`],
    ['run', 'PRD.json', secret],
    ['answer', 'E1', '--text', `use ${secret}`],
    ['tell', `the key is ${secret}`],
    [secret],
  ];
  for (const words of places) {
    it.concurrent(
      `B19: a secret in \`ralph ${words.join(' ').replace(secret, '(secret)')}\` is refused and not echoed`,
      inProject(async place => {
        const told = await refused(place, words, /looks like a secret, and every process on this machine can see it/);
        expect(told.stdout + told.stderr).not.toContain(secret.slice(0, 16));
      }),
    );
  }
});

describe('variables and files of settings', () => {
  const variables: readonly (readonly [string, string, RegExp])[] = [
    ['RALPH_MAX_COST', 'abc', /^ralph: RALPH_MAX_COST: "abc" is not an amount/],
    ['RALPH_MAX_COST', '', /^ralph: RALPH_MAX_COST: "" is not an amount/],
    ['MAX_ITERATIONS', '0', /^ralph: MAX_ITERATIONS: "0" is not a whole number/],
    ['STUCK_THRESHOLD', 'three', /^ralph: STUCK_THRESHOLD: "three" is not a whole number/],
    ['RALPH_ON_ESCALATION', 'panic', /^ralph: RALPH_ON_ESCALATION: "panic" .* use one of wait, skip, exit/],
  ];
  for (const [name, value, wanted] of variables) {
    it.concurrent(
      `B16: ${name}=${value} is refused by its name`,
      inProject(async place => {
        await refused(place, runScript, wanted, { env: { [name]: value } });
      }),
    );
  }

  it.concurrent(
    "B16: the seed's name is read, with a note of the new one; a slip is pointed out",
    inProject(async place => {
      const env = { MAX_ITERATIONS: '7', RALPH_MAX_COSTS: '3' };
      const told = await place.ralph([...runScript, '--dry-run'], { env });
      expect(told.stdout).toContain('7 iterations');
      expect(told.stderr).toContain('note: MAX_ITERATIONS is read as RALPH_MAX_ITERATIONS');
      expect(told.stderr).toContain('note: RALPH_MAX_COSTS is not a setting; did you mean RALPH_MAX_COST?');
    }),
  );

  it.concurrent(
    'B17: .env with export, quotes, BOM, CRLF and several lines is parsed',
    inProject(async place => {
      const lines = ['\ufeff# mine', 'export RALPH_MAX_ITERATIONS="7"', "RALPH_PROJECT='a b'", 'OTHER="one\ntwo"', ''];
      place.put('.env', lines.join('\r\n'));
      const told = await place.ralph([...runScript, '--dry-run']);
      expect(told.stdout).toContain('7 iterations');
    }),
  );

  it.concurrent(
    'B17: $(command) in .env is never executed',
    inProject(async place => {
      place.put('.env', 'RALPH_MAX_COST=$(touch pwned)\nRALPH_PROJECT=`touch pwned`\n');
      await refused(place, runScript, /RALPH_MAX_COST in \.env: "\$\(touch pwned\)" is not an amount/);
      expect(existsSync(join(place.project, 'pwned'))).toBe(false);
    }),
  );

  const files: readonly (readonly [string, RegExp])[] = [
    ['{ "maxIteration": 3 }', /ralph\.config\.json:1:3: unknown key "maxIteration"; did you mean maxIterations\?/],
    ['{\n  "maxIterations": 0\n}', /ralph\.config\.json:2:\d+: maxIterations: "0" is not a whole number/],
    ['{ "maxIterations": ', /ralph\.config\.json:1:\d+: The text ends before its JSON is complete/],
    ['{ "__proto__": { "maxCost": "1" } }', /ralph\.config\.json.*__proto__/],
  ];
  for (const [text, wanted] of files) {
    it.concurrent(
      `B24: ralph.config.json ${JSON.stringify(text)} is refused with its place`,
      inProject(async place => {
        place.put('ralph.config.json', text);
        await refused(place, runScript, wanted);
      }),
    );
  }
});
