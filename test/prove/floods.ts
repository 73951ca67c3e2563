// Floods a real `ralph run` with output of several kinds, and holds against it what it owes: to stay small, live and whole.
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { writeStream } from '../bench/streams.ts';
import { agentPath, makeStage, type Stage } from './stage.ts';
import { LawBroken, ofType } from './verdict.ts';

/** Short lines, one line without end, or what claude prints; `none` of each is what the floods are compared with. */
export type FloodKind = 'lines' | 'line' | 'claude';

export interface Flooded {
  readonly ms: number;
  readonly delayMsP99: number;
  readonly delayMsMax: number;
  readonly residentBytesMax: number;
  /** In the ledger, of the one iteration. */
  readonly events: number;
  readonly spoolBytes: number;
  /** What the agent printed. */
  readonly bytes: number;
}

const watcher = pathToFileURL(join(import.meta.dirname, 'floods-watch.mjs')).href;
const claim = 'Task US-001 complete';

/** The claim is the last thing that it says: whoever loses the end loses the task. */
function commandFor(kind: FloodKind, bytes: number): string {
  return `'${agentPath(kind === 'lines' ? 'floods' : 'one-long-line')}' ${bytes}; echo; echo '${claim}'`;
}

/** A `claude` on the PATH that plays a stream of a few megabytes until so much is said. */
function fakeClaude(stage: Stage, bytes: number): { readonly folder: string; readonly bytes: number } {
  const folder = join(stage.folder, 'bin');
  mkdirSync(folder);
  const stream = join(folder, 'stream.jsonl');
  const { bytes: bytesOnce } = writeStream('claude', stream, 1);
  const times = Math.round(bytes / bytesOnce);
  const result = { type: 'result', subtype: 'success', is_error: false, result: claim, modelUsage: {} };
  writeFileSync(
    join(folder, 'claude'),
    `#!/bin/sh\nfor i in $(seq ${times}); do cat '${stream}'; done\necho '${JSON.stringify(result)}'\n`,
  );
  chmodSync(join(folder, 'claude'), 0o755);
  return { folder, bytes: times * bytesOnce };
}

function spoolBytes(stage: Stage): number {
  const logs = readdirSync(stage.home, { recursive: true, encoding: 'utf8' }).filter(path => path.endsWith('.log'));
  return logs.reduce((sum, path) => sum + statSync(join(stage.home, path)).size, 0);
}

/** One story, one iteration, so many bytes. Throws when the claim at the end of the flood did not close the task. */
export async function flooded(kind: FloodKind, bytesAsked: number): Promise<Flooded> {
  const stage = makeStage(1);
  try {
    const report = join(stage.folder, 'seen.json');
    const claude = kind === 'claude' ? fakeClaude(stage, bytesAsked) : undefined;
    const path = `${claude === undefined ? '' : `${claude.folder}:`}${process.env['PATH'] ?? ''}`;
    const agent =
      kind === 'claude'
        ? ['--agent', 'claude', '--max-cost', '1000000']
        : ['--agent-command', commandFor(kind, Math.round(bytesAsked))];
    const env = { PATH: path, NODE_OPTIONS: `--import ${watcher}`, FLOOD_REPORT: report };
    const begin = performance.now();
    const { code, output, errors } = await stage.ralph(['run', 'PRD.json', '--yes', '--no-input', ...agent], { env })
      .ended;
    const ms = performance.now() - begin;
    if (code !== 0) throw new LawBroken(`ralph ended with ${code}: ${output}${errors}`);
    const events = (await stage.ledger()).flatMap(record => record.events);
    if (ofType(events, 'task.closed').length !== 1)
      throw new LawBroken('the claim at the end of the flood was not read');
    return {
      ms,
      ...(JSON.parse(readFileSync(report, 'utf8')) as Pick<Flooded, 'delayMsP99' | 'delayMsMax' | 'residentBytesMax'>),
      events: events.length,
      spoolBytes: spoolBytes(stage),
      bytes: claude?.bytes ?? bytesAsked,
    };
  } finally {
    stage.remove();
  }
}

interface FloodRow {
  readonly what: string;
  readonly kind: FloodKind;
  readonly bytes: number;
  /** Above the same run without the flood. */
  readonly growthBytesMax?: number;
  readonly linesPerSecondMin?: number;
}

const delayMsMax = 50; // F29
const growthBytesMax = 64_000_000; // F28, issue 3
const spoolBytesMax = 64 * 1_024 * 1_024 + 100; // and the words that say so
const lineBytes = 17; // of `floods`

const rows: readonly FloodRow[] = [
  { what: 'short lines', kind: 'lines', bytes: 60 * 200_000 * lineBytes, linesPerSecondMin: 200_000, growthBytesMax },
  { what: 'one line', kind: 'line', bytes: 1_000_000_000, growthBytesMax },
  { what: 'stream-json', kind: 'claude', bytes: 100_000_000, growthBytesMax },
  { what: 'stream-json', kind: 'claude', bytes: 1_000_000_000 }, // the heap keeps what V8 gives to young objects: about 80 MB
];

function brokenLaws(row: FloodRow, now: Flooded, quiet: Flooded): readonly string[] {
  const isLong = now.ms > 3_000; // of a short run the start is more than a hundredth
  const seconds = Math.ceil(now.ms / 1_000);
  const lines = row.linesPerSecondMin === undefined ? Number.NaN : now.bytes / lineBytes / (now.ms / 1_000);
  const laws: readonly (readonly [boolean, string])[] = [
    [isLong && now.delayMsP99 >= delayMsMax, `the event loop was late by more than ${delayMsMax} ms`],
    [lines < (row.linesPerSecondMin ?? 0), `only ${Math.round(lines)} lines in a second`],
    [now.residentBytesMax - quiet.residentBytesMax >= (row.growthBytesMax ?? Number.NaN), 'it grew by more than 64 MB'],
    [now.spoolBytes > spoolBytesMax, `the spool took ${now.spoolBytes} bytes`],
    [now.events > quiet.events + 3 * seconds, `the ledger took ${now.events} events`],
  ];
  return laws.filter(([isBroken]) => isBroken).map(([, law]) => law);
}

/** The number of floods that broke a law. */
export async function proveFloods(): Promise<number> {
  let failed = 0;
  for (const row of rows) {
    const quiet = await flooded(row.kind, 0);
    const now = await flooded(row.kind, row.bytes);
    const broken = brokenLaws(row, now, quiet);
    const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(0)} MB`;
    console.log(
      `${megabytes(now.bytes)} of ${row.what} in ${(now.ms / 1_000).toFixed(1)} s: event loop late by ` +
        `${now.delayMsP99.toFixed(0)} ms (p99; at most ${now.delayMsMax.toFixed(0)}), memory +` +
        `${megabytes(now.residentBytesMax - quiet.residentBytesMax)}, spool ${megabytes(now.spoolBytes)}, ${now.events} events` +
        `${broken.map(law => `\n  BROKEN: ${law}`).join('')}`,
    );
    if (broken.length > 0) failed += 1;
  }
  return failed;
}
