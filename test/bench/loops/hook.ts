// The end of a turn: `ralph hook stop` without a loop and with transcripts of 1 to 500 MB, against a bare Node and a pipeline of jq and perl.
import { spawnSync } from 'node:child_process';
import { appendFileSync, closeSync, existsSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchRow } from '../row.ts';
import { type Ground, type Project, run, started } from './ground.ts';
import { type Build, type Figures, measure, type RowOrder } from './section.ts';

const bare = 'node -e 0';
const idle = 'hook stop without a loop';
const launched = 'hook stop without a loop, by the plugin';
const pipeline = join(import.meta.dirname, 'hook-pipeline.sh');
const needed = ['bash', 'jq', 'perl', 'awk'];
const stateFile = '.claude/ralph-loop.local.md';

const line = (text: string): string =>
  `${JSON.stringify({
    type: 'assistant',
    timestamp: new Date().toISOString(),
    message: {
      id: text,
      role: 'assistant',
      model: 'm1',
      content: [{ type: 'text', text }],
      usage: { input_tokens: 900, output_tokens: 90 },
    },
  })}\n`;

/** Half of it results of tools, as in a long session. */
function transcriptOf(path: string, megabytes: number): string {
  const result = JSON.stringify({
    type: 'user',
    message: { role: 'user', content: [{ type: 'tool_result', content: 'x'.repeat(2_000) }] },
  });
  const block = `${result}\n${line('One more part of the house is drawn.')}${result}\n`.repeat(200);
  const file = openSync(path, 'w');
  for (let bytes = 0; bytes < megabytes * 1e6; bytes += block.length) writeSync(file, block);
  closeSync(file);
  return path;
}

const nameOf = (megabytes: number): string => `hook stop, transcript of ${megabytes} MB`;
const pipelineOf = (megabytes: number): string => `bash, jq and perl, transcript of ${megabytes} MB`;

export async function benchHook(
  isQuick: boolean,
  builds: readonly Build[],
  ground: Ground,
): Promise<readonly BenchRow[]> {
  const sizes = isQuick ? [1, 50] : [1, 50, 500];
  const transcripts = new Map(
    sizes.map(size => [size, transcriptOf(join(ground.folder, `transcript-${size}.jsonl`), size)]),
  );
  const missing = needed.filter(name => spawnSync(name, ['--version'], { stdio: 'ignore' }).error !== undefined);
  let turns = 0;
  /** Says something else each time, in the transcript too. */
  const turn = (session: string, { directory }: Project, transcript: string): string => {
    turns += 1;
    const text = `Part ${turns} of the house is drawn, ${turns * 7919} nails are left.`;
    if (transcript !== '') appendFileSync(transcript, line(text));
    const event = { hook_event_name: 'Stop', session_id: session, cwd: directory, transcript_path: transcript };
    return JSON.stringify({ ...event, prompt_id: 'p1', stop_hook_active: true, last_assistant_message: text });
  };
  const timed = async (
    name: string,
    words: readonly string[],
    place: Project,
    input: string,
    wanted: string,
  ): Promise<Figures> => {
    const [command = '', ...args] = words;
    const { code, said, tookMs } = await started(command, args, { ...place, input });
    if (code !== 0 || !said.includes(wanted)) throw new Error(`${name} exited with ${code}: ${said}`);
    return { [name]: [tookMs] };
  };
  const empty = ground.project(1);
  const stops = (build: Build): readonly string[] => [
    process.execPath,
    join(ground.install(build), 'bin/ralph'),
    'hook',
    'stop',
  ];
  const loops = new Map<string, Project>();
  const loopOf = (build: Build, size: number): Project => {
    const key = `${build.name} ${size}`;
    const known = loops.get(key);
    if (known !== undefined) return known;
    const place = ground.project(1);
    const words = [
      'hook',
      'start',
      'Draw the house',
      '--agent',
      'claude',
      '--session',
      key,
      '--max-iterations',
      '100000',
    ];
    const limits = ['--no-progress', '100000', '--max-duration', '30d', '--max-cost', '1000000'];
    run(process.execPath, [join(ground.install(build), 'bin/ralph'), ...words, ...limits], place);
    loops.set(key, place);
    return place;
  };
  const piped = ground.project(1);
  mkdirSync(join(piped.directory, '.claude'));
  writeFileSync(
    join(piped.directory, stateFile),
    '---\nactive: true\niteration: 1\nmax_iterations: 0\ncompletion_promise: "DONE"\n---\n\nDraw the house\n',
  );
  const hasPlugin = builds.every(build => existsSync(join(build.root, 'plugin')));
  const plugin = (build: Build): readonly string[] => [
    process.execPath,
    join(ground.install(build), 'plugin/bin/ralph'),
    'hook',
    'stop',
  ];
  const rows: RowOrder[] = [
    { name: `${idle} / bare node`, of: idle, per: bare, limit: 2 },
    ...(hasPlugin ? [{ name: `${launched} / bare node`, of: launched, per: bare }] : []),
    ...sizes.map(size => ({ name: `${nameOf(size)}, with a loop / bare node`, of: nameOf(size), per: bare })),
    ...(missing.length > 0
      ? []
      : sizes.map(size => ({
          name: `${nameOf(size)} / the same by bash, jq and perl`,
          of: nameOf(size),
          per: pipelineOf(size),
        }))),
  ];
  const measured = await measure(
    {
      rounds: isQuick ? 5 : 20,
      floors: [
        () => timed(bare, [process.execPath, '-e', '0'], empty, '', ''),
        ...(missing.length > 0 ? [] : sizes).map(size => () => {
          const path = transcripts.get(size)!;
          return timed(
            pipelineOf(size),
            ['bash', pipeline],
            piped,
            turn('pipeline', piped, path),
            '"decision":"block"',
          );
        }),
      ],
      probes: [
        build => timed(idle, stops(build), empty, turn('none', empty, ''), ''),
        ...(hasPlugin ? [(build: Build) => timed(launched, plugin(build), empty, turn('none', empty, ''), '')] : []),
        ...sizes.map(size => (build: Build) => {
          const place = loopOf(build, size);
          const input = turn(`${build.name} ${size}`, place, transcripts.get(size)!);
          return timed(nameOf(size), stops(build), place, input, '"decision":"block"');
        }),
      ],
      rows,
    },
    builds,
  );
  const skipped = `not here: ${missing.join(', ')}`;
  return missing.length === 0
    ? measured
    : [...measured, { name: 'hook stop / bash, jq and perl', ratio: Number.NaN, detail: '', skipped }];
}
