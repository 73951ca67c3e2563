// Publisher of a loop's views in its folder: status.json while it runs, report.json beside it; never in the loop's way.
import { lstat, mkdir, realpath, rm, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import type { Holder } from '../ledger/ledger.ts';
import type { ModeView, ViewFile } from '../modes/mode.ts';
import { isoTime } from '../text/format.ts';
import type { Engine } from './engine.ts';
import { LedgerFold } from './ledger-fold.ts';

const everyMs = 1_000;
/** A report holds every task: one of thousands is written again after a while, and when the run is over. */
const reportCharsPerSecond = 64 * 1024;

/** What a mode shows, and the folders that it may be shown in. */
export interface Shown {
  readonly view: ModeView;
  readonly roots: readonly string[];
}

interface PublisherNeeds extends Pick<Engine, 'ledger' | 'clock' | 'holder'> {
  readonly loop: string;
  readonly folder: string;
  readonly warn: (sentence: string) => void;
  readonly mode?: Shown;
  /** What was folded before, if anything. */
  readonly events?: LedgerFold;
}

/** Views are projections of the ledger: the publisher reads it for itself, a second at the earliest after the last time. */
export function publisher(needs: PublisherNeeds): NonNullable<Engine['publish']> {
  const { ledger, clock, loop, folder, warn, mode } = needs;
  const shown = new Map<string, string | null>();
  const isFolded = mode === undefined && needs.events?.isWhole === true;
  const events = isFolded
    ? needs.events
    : new LedgerFold(ledger, loop, undefined, (...told) => mode?.view.add(...told));
  let reportDueAt = 0;
  let later: (() => void) | undefined;
  let cancel: (() => void) | undefined;
  let writing: Promise<void> = Promise.resolve();

  const write = async (isHeld: boolean): Promise<void> => {
    const { state } = await events.catchUp();
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const options = { fsync: false, mode: 0o600 } as const;
    const status = events.fold.statusText(heldBy(isHeld ? needs.holder : undefined, clock.now()));
    await writeFileAtomic(join(folder, 'status.json'), status, options);
    if (isHeld && clock.now() < reportDueAt) later ??= clock.at(reportDueAt, reportLate);
    else {
      const report = events.fold.reportText();
      await writeFileAtomic(join(folder, 'report.json'), report, options);
      reportDueAt = clock.now() + (report.length / reportCharsPerSecond) * 1_000;
      later?.();
      later = undefined;
    }
    for (const file of mode?.view.files(state) ?? []) {
      if (shown.get(file.path) === file.text) continue;
      const problem = await putView([folder, ...(mode?.roots ?? [])], file);
      if (problem !== undefined) warn(`Not written: ${problem}.`);
      shown.set(file.path, file.text);
    }
  };
  const reportLate = (): void => {
    reportDueAt = 0;
    void queue(true);
  };
  const queue = (isHeld: boolean): Promise<void> => {
    writing = writing
      .then(() => write(isHeld))
      .catch((error: unknown) =>
        warn(`The status and report files of the loop could not be written: ${whyWords(error)}.`),
      );
    return writing;
  };
  return {
    changed() {
      cancel ??= clock.at(clock.now() + everyMs, () => {
        cancel = undefined;
        void queue(true);
      });
    },
    async close() {
      cancel?.();
      cancel = undefined;
      await queue(false);
    },
  };
}

/** The writer may be dead by now: who reads the file judges that by its process, or by its last sign of life. */
const heldBy = (holder: Holder | undefined, now: number) => ({
  holder: holder === undefined ? null : { pid: holder.pid, start_time: holder.startTime, host: holder.host },
  renewed_at: isoTime(now),
});

// Writes one view where its mode's users look for it: beside files that an agent may change, so no link of theirs is followed.

const isInside = (root: string, path: string): boolean => {
  const way = relative(root, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
};

/** The nearest folder above that is there already. */
async function standing(path: string): Promise<string> {
  const above = dirname(path);
  const real = await realpath(above).catch(() => undefined);
  return real ?? (above === path ? path : standing(above));
}

const whyWords = (error: unknown): string =>
  (error as NodeJS.ErrnoException).code === 'ENOSPC' ? 'the disk is full' : (error as Error).message;

/** Undefined: written, or already there. Else why it was not; it never throws, for a view is in nobody's way. */
export async function putView(roots: readonly string[], file: ViewFile): Promise<string | undefined> {
  return put(roots, file).catch((error: Error) => `${file.path} could not be written (${whyWords(error)})`);
}

async function put(roots: readonly string[], { path, text, once }: ViewFile): Promise<string | undefined> {
  const real = await Promise.all(roots.map(root => realpath(root).catch(() => root)));
  const folder = await standing(path);
  if (!real.some(root => isInside(root, folder))) return `${path} lies behind a link that leads out of the folder`;
  const there = await lstat(path).catch(() => undefined);
  if (there !== undefined && !there.isFile()) return `${path} is no plain file`;
  if (text === null) await rm(path, { force: true });
  else {
    await mkdir(dirname(path), { recursive: true });
    if (once) await writeFile(path, text, { flag: 'wx' }).catch(() => {});
    else await writeFileAtomic(path, text, { fsync: false });
  }
  return undefined;
}
