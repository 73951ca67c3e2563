// Measures how much of a bare JSON loop's speed each agent's parser keeps over 100 MB, and how much memory it takes for it.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pass } from './parse-pass.ts';
import type { RunRole } from './parse-run.ts';
import { type BenchRow, median } from './row.ts';
import { type Expected, type FormatName, formats, writeStream } from './streams.ts';

const fromFile = join(import.meta.dirname, 'parse-pass.ts');
const fromChild = join(import.meta.dirname, 'parse-run.ts');
const streamBytes = 100_000_000;
const speedLimit = 0.5; // issue 3
const growthLimit = 64; // issue 3, in megabytes

function inOwnProcess(script: string, words: readonly string[]): readonly Pass[] {
  const args = ['--expose-gc', '--disable-warning=ExperimentalWarning', script, ...words];
  const output = execFileSync(process.execPath, args, { encoding: 'utf8', env: { PATH: process.env['PATH'] } });
  return JSON.parse(output) as Pass[];
}

function demand(isSo: boolean, words: string): void {
  if (!isSo) throw new Error(words);
}

/** A line end may follow each word and each message. */
function checkUnderstood(name: string, expected: Expected, passes: readonly Pass[]): void {
  for (const { chars, tools, odd } of passes) {
    const [most, least] = [expected.chars + 3 * expected.turns, expected.chars];
    demand(odd === 0, `the parser of ${name} did not understand ${odd} lines`);
    demand(tools === expected.turns, `the parser of ${name} saw ${tools} of ${expected.turns} tool calls`);
    demand(chars >= least && chars <= most, `the parser of ${name} heard ${chars} characters, not ${least}`);
  }
}

const quietest = (passes: readonly Pass[], value: (pass: Pass) => number): number => Math.min(...passes.map(value));

/** Other work on the machine only adds time, so the quietest passes are compared. */
function compared(bytes: number, own: readonly Pass[], floor: readonly Pass[]): { ratio: number; detail: string } {
  const [ownMs, floorMs] = [own, floor].map(passes => quietest(passes, ({ ms }) => ms));
  const pooled = median(floor.map(({ ms }) => ms)) / median(own.map(({ ms }) => ms));
  const byCpu = quietest(floor, ({ cpuMs }) => cpuMs) / quietest(own, ({ cpuMs }) => cpuMs);
  const rate = (ms: number): string => `${(bytes / 1_000 / ms).toFixed(0)} MB/s`;
  const detail = `${rate(ownMs!)} to ${rate(floorMs!)}; all passes ${pooled.toFixed(2)}, by CPU time ${byCpu.toFixed(2)}`;
  return { ratio: floorMs! / ownMs!, detail };
}

function benchFormat(name: FormatName, path: string, quick: boolean): readonly BenchRow[] {
  const expected = writeStream(name, path, streamBytes);
  const [floor, parser]: [Pass[], Pass[]] = [[], []];
  for (let round = 0; round < (quick ? 2 : 4); round += 1) {
    floor.push(...inOwnProcess(fromFile, ['floor', name, path, '2']));
    parser.push(...inOwnProcess(fromFile, ['parser', name, path, '2']));
  }
  const held = inOwnProcess(fromFile, ['memory', name, path, '1']);
  checkUnderstood(name, expected, [...parser, ...held]);
  demand(
    floor.every(({ lines }) => lines === expected.lines),
    `the bare loop did not read all of ${name}`,
  );
  const { ratio, detail } = compared(expected.bytes, parser, floor);
  const long = `${(100 * expected.longShare).toFixed(0)} % of the bytes in results and messages above 1 kB`;
  const growth = Math.max(...held.map(({ growthBytes }) => growthBytes)) / 1_000_000;
  return [
    {
      name: `parser: ${name}, speed / bare loop of lines and JSON.parse`,
      ratio,
      limit: speedLimit,
      higherIsBetter: true,
      detail: `${detail}; ${expected.lines} lines, ${long}`,
    },
    {
      name: `parser: ${name}, memory above its start / 1 MB`,
      ratio: growth,
      limit: growthLimit,
      detail: `the highest after any of ${Math.ceil(expected.bytes / 65_536)} chunks of 64 kB`,
    },
  ];
}

/** A real child, its pipe, the containment, the driver; the consumer drops what it hears. */
function benchRun(folder: string, quick: boolean): readonly BenchRow[] {
  const [stream, directory, agent] = ['stream.jsonl', 'project', 'agent'].map(name => join(folder, name));
  const expected = writeStream('claude', stream!, streamBytes);
  const result = JSON.stringify({
    type: 'result',
    subtype: 'success',
    is_error: false,
    result: 'done',
    modelUsage: {},
  });
  writeFileSync(agent!, `#!/bin/sh\ncat '${stream}'\necho '${result}'\n`, { mode: 0o700 });
  mkdirSync(directory!);
  const run = (role: RunRole): readonly Pass[] => inOwnProcess(fromChild, [role, agent!, directory!]);
  const [floor, own]: [Pass[], Pass[]] = [[], []];
  for (let round = 0; round < (quick ? 3 : 8); round += 1) {
    floor.push(...run('floor'));
    own.push(...run('driver'));
  }
  const held = run('memory');
  checkUnderstood('claude', expected, [...own, ...held]);
  return [
    {
      name: 'parser: claude from a real child through the driver, speed / the same child into the bare loop',
      ...compared(expected.bytes, own, floor),
      higherIsBetter: true,
    },
    {
      name: 'parser: claude from a real child, memory above its start / 1 MB',
      ratio: held[0]!.growthBytes / 1_000_000,
      limit: growthLimit,
      detail: 'the highest after any activity, containment and timers included',
    },
  ];
}

export async function benchParser(quick: boolean): Promise<readonly BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-bench-parser-'));
  try {
    const path = join(folder, 'stream.jsonl');
    const rows = (Object.keys(formats) as FormatName[]).flatMap(name => benchFormat(name, path, quick));
    return [...rows, ...benchRun(folder, quick)];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
