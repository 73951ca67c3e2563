// Every command of the table, each once through the real binary: data on standard output, messages on standard error, JSON.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { commands, nameOf } from '../../src/cli/command-table.ts';
import { runProgram } from '../../src/cli/program.ts';
import { asks, claims, inScratch, prd, refused, runScript, type Scratch, scratch, scripted } from './kit.ts';

/** One finished loop that all reading commands look at: a lie caught by the check, then the truth; the second is closed. */
let place: Scratch;

beforeAll(async () => {
  place = scratch();
  const usage = { inputTokens: 900, outputTokens: 100, costUsdMicros: 12_000 };
  scripted(
    place,
    ['US-001', 'US-002'],
    [
      { task: 'US-001', attempt: 1, steps: [{ say: '\u001b[31mI lie.\u001b[0m' }, { usage }, { lie: true }] },
      { task: 'US-001', steps: [{ write: 'proof', text: 'x' }, { usage }, { claim: true }] },
      claims('US-002'),
    ],
  );
  expect((await place.ralph([...runScript, '--verify', 'test -f proof', '--allow-red-start'])).code).toBe(0);
});

afterAll(() => place.end());

const data = async (...words: readonly string[]): Promise<string> => {
  const told = await place.ralph(words);
  expect(told.code).toBe(0);
  expect(told.stderr).toBe('');
  return told.stdout;
};

describe('about Ralph itself', () => {
  it.concurrent('--version prints the version and nothing else', async () => {
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'));
    for (const word of ['--version', '-V', '-v', 'version']) expect(await data(word)).toBe(`${version}\n`);
  });

  it.concurrent('ralph, ralph help and ralph --help are a dozen lines with the next step for this folder', async () => {
    const [plain, ...helps] = await Promise.all([data(), data('help'), data('--help')]);
    const withoutTimes = (text: string): string => text.replace(/^Loop .*/m, '');
    expect(plain.split('\n').length).toBeLessThanOrEqual(18);
    expect(helps.map(withoutTimes)).toEqual([withoutTimes(plain), withoutTimes(plain)]);
    const elsewhere = await place.ralph([], { cwd: place.temporary });
    expect(elsewhere.stdout).toContain('Next here: ralph demo');
    for (const line of elsewhere.stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });

  it.concurrent('ralph help COMMAND through the binary is what the table says', async () => {
    const [help, flag] = await Promise.all([data('help', 'plan', 'run'), data('plan', 'run', '--help')]);
    expect(help).toContain('Usage: ralph plan run');
    expect(flag).toBe(help);
  });
});

/** Those that end by themselves; the others are started in tests of their own (`demo.test.ts`, `plan-process.test.ts`). */
const ending = commands.filter(row => !['demo', 'plan watch'].includes(nameOf(row).join(' ')));
/** One of each file: what a bundle may lack is a file. */
const fileOf = (row: (typeof ending)[number]): string => /import\(.*?\)/.exec(String(row.load))?.[0] ?? row.usage;
const oneOfEach = [...new Map(ending.map(row => [fileOf(row), row])).values()];

describe('the real binary', () => {
  it.concurrent.each(oneOfEach.map(row => [nameOf(row).join(' '), row] as const))(
    'says for `ralph %s` what a process says that is warm',
    async (name, row) => {
      const words = [...name.split(' '), ...(row.usage.match(/[<[]\w+[\]>]/g) ?? []).map(() => 'no/body')];
      const { stdout, ...told } = await place.start(words).ended;
      const { stdout: wanted, ...warm } = await place.ralph(words);
      expect([told, stdout === '']).toEqual([warm, wanted === '']);
      expect(told.stderr).not.toContain('internal error');
    },
  );
});

/** In this process: a start of the binary for each of them would take longer than all the rest. */
async function printed(words: readonly string[]): Promise<string> {
  let text = '';
  const write = vi.spyOn(process.stdout, 'write').mockImplementation(chunk => {
    text += String(chunk);
    return true;
  });
  try {
    expect(await runProgram(words)).toBe(0);
  } finally {
    write.mockRestore();
  }
  return text;
}

describe('help', () => {
  for (const row of commands) {
    const words = nameOf(row);
    it(`ralph help ${words.join(' ')} names each flag and shows examples`, async () => {
      const help = await printed(['help', ...words]);
      expect(help).toContain(`Usage: ralph ${words.join(' ')}`);
      for (const { flags } of row.options ?? []) expect(help).toContain(flags.split(' ')[0]);
      const lines = help.replaceAll(' \\\n    ', ' '); // a long example goes on in the next line
      for (const example of row.examples) expect(lines).toContain(example);
      expect(await printed([...words, '--help'])).toBe(help);
    });
  }
});

describe('reading a finished loop', () => {
  it.concurrent('status says how it ended; --json is the LoopView, and status.json keeps its own names', async () => {
    expect(await data('status')).toMatch(
      /^shop {2}completed {2}\(.*PRD\.json\)\n {2}Done: 2 of 2 tasks done, 3 iterations/,
    );
    const status = JSON.parse(await data('status', 'shop', '--json'));
    expect(status).toMatchObject({
      version: 2,
      name: 'shop',
      liveness: { is: 'ended' },
      tasks: { total: 2, done: 2, items: [{ id: 'US-001', status: 'done', verified: true }, { id: 'US-002' }] },
      ending: { reason: 'goal_achieved', exitCode: 0 },
    });
    const file = JSON.parse(readFileSync(join(place.home, 'loops', status.loop, 'status.json'), 'utf8'));
    expect(file).toMatchObject({ loop_id: status.loop, state: 'completed', current_iteration: 3, holder: null });
  });

  it.concurrent('loops list and loops show, by name, by the start of it and by id', async () => {
    expect(await data('loops', 'list')).toMatch(/^shop +completed +2\/2 +goal achieved +\d{4}-.*PRD\.json\n$/);
    const { loops } = JSON.parse(await data('loops', 'list', '--json'));
    expect(loops).toHaveLength(1);
    const shown = await data('loops', 'show', 'shop');
    expect(shown).toMatch(/US-001 +done +proven/);
    expect(await data('loops', 'show', 'sh')).toBe(shown);
    expect(await data('loops', 'show', loops[0].loop)).toBe(shown);
    expect(JSON.parse(await data('loops', 'show', 'shop', '--json'))).toMatchObject({
      version: 2,
      name: 'shop',
      state: 'completed',
      folded: {},
    });
  });

  it.concurrent('events: one line each; --json: one object each, numbered without a gap', async () => {
    const lines = (await data('events')).trim().split('\n');
    const objects = (await data('events', '--json'))
      .trim()
      .split('\n')
      .map(line => JSON.parse(line));
    expect(objects).toHaveLength(lines.length);
    expect(objects.map(one => one.seq)).toEqual(objects.map((_, at) => at + 1));
    expect(objects[0]).toMatchObject({ version: 2, type: 'loop.started' });
  });

  it.concurrent('explain gives the reason of each step, or of one task', async () => {
    const all = await data('explain');
    expect(all).toContain('check test -f proof FAILED for US-001');
    expect(all).toMatch(/loop ended\. Done: 2 of 2 tasks done/);
    const { steps } = JSON.parse(await data('explain', '--json'));
    expect(steps).toHaveLength(all.trim().split('\n').length);
    expect(steps.at(-1)).toMatchObject({ type: 'loop.ended', sentence: expect.stringContaining('2 of 2 tasks done') });
    const one = await data('explain', 'shop', '--task', 'US-002');
    expect(one).toContain('US-002 done, checks still green');
    expect(one).not.toContain('US-001 done');
  });

  it.concurrent('logs: the last iteration, a given one, its prompt; without control sequences', async () => {
    expect(await data('logs')).toContain('Task US-002 complete');
    expect(await data('logs', '--iteration', '1')).toBe('I lie.\nTask US-001 complete\n');
    expect(await data('logs', '--iteration', '2', '--prompt')).toContain('test -f proof');
  });

  it.concurrent('report in words and as JSON', async () => {
    expect(await data('report')).toContain('US-001');
    const { history, ...view } = JSON.parse(await data('report', '--json'));
    expect(view).toEqual(JSON.parse(await data('status', '--json')));
    const file = JSON.parse(readFileSync(join(place.home, 'loops', view.loop, 'report.json'), 'utf8'));
    const numbers = (rows: readonly { iteration: number; task: string }[]) =>
      rows.map(({ iteration, task }) => ({ iteration, task }));
    expect(numbers(history.iterations)).toEqual(numbers(file.iterations));
    expect(history.checks).toEqual(file.checks);
    expect(history.counts).toMatchObject({ iterations: 3, checksPassed: 2, checksFailed: 1 });
  });

  it.concurrent('inbox is empty: a message, no data', async () => {
    const told = await place.ralph(['inbox']);
    expect(told).toEqual({ code: 0, stdout: '', stderr: 'Nothing waits for you.\n' });
    expect(JSON.parse(await data('inbox', '--json'))).toEqual({ version: 2, questions: [] });
  });

  it.concurrent('audit verify proves the chain', async () => {
    const told = await place.ralph(['audit', 'verify']);
    expect(told.code).toBe(0);
    expect(told.stdout).toMatch(/^shop: \d+ events, chain holds, head [0-9a-f]{64}\n$/);
    expect(JSON.parse(await data('audit', 'verify', 'shop', '--json'))).toMatchObject({ version: 2, ok: true });
  });

  const refusals: readonly (readonly [readonly string[], RegExp])[] = [
    [['status', 'nope'], /No loop is called "nope"\.\n {2}See them all: ralph loops list/],
    [['loops', 'show'], /Missing required argument 'loop'\.\n {2}See its flags: ralph help loops show/],
    [['logs', '--iteration', '9'], /There is no iteration "9"\.\n {2}Give a number from 1 to 3/],
    [['logs', '--iteration', 'last'], /There is no iteration "last"/],
    [['answer', 'E1', '--skip'], /No open question is called "E1"\.\n {2}See the open ones: ralph inbox/],
    [['answer'], /Say which question is answered/],
    [['tell'], /There is nothing to tell\.\n {2}ralph tell "/],
    [['tell', 'hello'], /Loop shop has ended \(Done\)\.\n {2}Guidance needs a loop that goes on/],
    [['resume', 'shop', '--max-iterations', '0'], /--max-iterations: "0" is not a whole number/],
  ];
  for (const [words, wanted] of refusals) {
    it.concurrent(`ralph ${words.join(' ')} is refused in a sentence`, async () => {
      const told = await place.ralph(words);
      expect(told.stderr).toMatch(wanted);
      expect(told.stdout).toBe('');
      expect(told.code).toBe(2);
    });
  }
});

describe('before the first loop', () => {
  it.concurrent('lists are empty, everything else says how to start; nothing is written', () =>
    inScratch(async empty => {
      for (const words of [
        ['status'],
        ['events'],
        ['logs'],
        ['report'],
        ['explain'],
        ['stop'],
        ['pause'],
        ['resume'],
      ]) {
        await refused(empty, words, /There is no loop yet\.\n {2}Start one: ralph run PRD\.json/);
      }
      await refused(empty, ['answer', 'E1', '--skip'], /There is no loop yet/);
      await refused(empty, ['tell', 'hello'], /There is no loop yet/);
      for (const words of [['loops', 'list'], ['inbox'], ['audit', 'verify']]) {
        expect(await empty.ralph(words)).toMatchObject({ code: 0, stdout: '' });
        expect(Object.values(await empty.json([...words, '--json']))).toContainEqual([]);
      }
      expect(existsSync(empty.home)).toBe(false);
    }));
});

describe('changing', () => {
  it.concurrent('a changed event is named by audit verify, exit 1', () =>
    inScratch(async own => {
      scripted(own, ['US-001'], [claims()]);
      await own.ralph(runScript);
      const database = new DatabaseSync(join(own.home, 'ralph.db'));
      for (const { name } of database.prepare("select name from sqlite_master where type = 'trigger'").all())
        database.exec(`drop trigger ${name}`);
      database.exec("update events set body = replace(body, 'US-001', 'US-009') where seq = 2");
      database.close();
      const told = await own.ralph(['audit', 'verify']);
      expect(told.code).toBe(1);
      expect(told.stdout).toMatch(/^shop: BROKEN at event 2: /);
    }));

  it.concurrent('answer wants exactly one answer', () =>
    inScratch(async own => {
      const escalate = { type: 'stuck', summary: 'What now?', context: '', options: [], question: '' };
      scripted(own, ['US-001'], [{ attempt: 1, steps: [{ escalate }] }, claims()]);
      expect((await own.ralph(runScript)).code).toBe(5);
      for (const flags of [[], ['--skip', '--retry']]) {
        const told = await own.ralph(['answer', 'E1', ...flags]);
        expect(told.code).toBe(2);
        expect(told.stderr).toMatch(/Give exactly one answer\.\n {2}One of --option N, --text/);
      }
      const none = await own.ralph(['answer', 'E1', '--option', '1']);
      expect(none.stderr).toMatch(/It has none: use --text, --skip, --retry or --abort/);
      expect((await own.ralph(['answer', 'e1', '--text', 'Use both.'])).code).toBe(0);
      expect((await own.ralph(runScript)).code).toBe(0);
      expect((await own.ralph(['logs', '--prompt'])).stdout).toContain('Use both.');
    }));

  it.concurrent('pause and stop without a live process are recorded, and a resume obeys', () =>
    inScratch(async own => {
      scripted(own, ['US-001', 'US-002'], [{ steps: [asks] }]);
      await own.ralph(runScript);
      expect((await own.ralph(['pause'])).stderr).toContain('Pause of shop: recorded. Go on: ralph resume shop');
      expect((await own.ralph(['status'])).stdout).toMatch(/^shop {2}not running, paused/);
      expect(await own.ralph(['resume'])).toMatchObject({ code: 5, stderr: expect.stringContaining('resumed by') });
      expect((await own.ralph(['stop'])).stderr).toContain('Stop of shop: recorded.');
      expect((await own.ralph(['status'])).stdout).toContain('Stopped on request: ralph stop');
    }));

  it.concurrent('a dry run shows the card on standard output and writes nothing', () =>
    inScratch(async own => {
      scripted(own, ['US-001'], [claims()]);
      const before = own.read('PRD.json');
      const told = await own.ralph([...runScript, '--dry-run', '--verify', 'npm test']);
      expect(told.code).toBe(0);
      expect(told.stdout).toContain('checks      npm test');
      expect(told.stderr).toBe('Dry run: nothing was started or written.\n');
      expect([existsSync(own.home), own.read('PRD.json')]).toEqual([false, before]);
    }));

  it.concurrent('--quiet prints only the ending', () =>
    inScratch(async own => {
      scripted(own, ['US-001'], [claims()]);
      const told = await own.ralph([...runScript, '--quiet']);
      expect(told.stdout).toMatch(/^Done: /);
      expect(told.stderr).toBe('  ralph report shop\n');
    }));

  it.concurrent('two projects with one name get two loops that can be told apart', () =>
    inScratch(async own => {
      scripted(own, ['US-001'], [claims()]);
      writeFileSync(join(own.project, 'other.json'), prd());
      await own.ralph(runScript);
      await own.ralph(['run', 'other.json', '--script', 'script.json']);
      const { loops } = (await own.json(['loops', 'list', '--json'])) as { loops: { name: string }[] };
      expect(loops.map(loop => loop.name)).toEqual([expect.stringMatching(/^shop-[0-9a-f]{6}$/), 'shop']);
    }));
});
