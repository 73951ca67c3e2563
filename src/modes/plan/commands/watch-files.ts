// Files that a watch of plans waits for: approved plans in any subfolder, notes that a person ticked, the file of MCP servers.
import { basename } from 'node:path';
import { subfoldersMax } from '../session/files.ts';
import type { VaultPaths } from '../views/paths.ts';

const writtenAfterMs = 300; // a file whose size and time stand still so long is completely written
const lookMs = 50;

/** Paths to look at, each at most once, in the order in which they came. */
export class Queue {
  private readonly paths = new Set<string>();
  private readonly stop: AbortSignal;
  private wake = (): void => {};

  constructor(stop: AbortSignal) {
    this.stop = stop;
    stop.addEventListener('abort', () => this.wake(), { once: true });
  }

  readonly add = (path: string): void => {
    this.paths.add(path);
    this.wake();
  };

  /** Undefined once it was stopped. */
  async next(): Promise<string | undefined> {
    while (!this.stop.aborted) {
      const [first] = this.paths;
      if (first !== undefined) {
        this.paths.delete(first);
        return first;
      }
      await new Promise<void>(done => {
        this.wake = done;
      });
    }
    return undefined;
  }
}

export interface Arrivals {
  readonly plan: (path: string) => void;
  /** Of this plan. */
  readonly note: (id: string) => void;
  readonly servers: () => void;
  readonly failed: (error: unknown) => void;
}

/** Resolves, when all plans that are there were told, to its end. `servers`: the file that names MCP servers. */
export async function watchFiles(
  { yes, notes }: VaultPaths,
  servers: string | undefined,
  arrivals: Arrivals,
): Promise<() => Promise<void>> {
  const { watch } = await import('chokidar'); // slow to load, and only a watch needs it
  const files = {
    followSymlinks: false,
    awaitWriteFinish: { stabilityThreshold: writtenAfterMs, pollInterval: lookMs },
  };
  const isHidden = (folder: string, path: string): boolean => /\/\./.test(path.slice(folder.length));
  const isOther = (path: string): boolean => !/\/[^./][^/]*\.md$/i.test(path);
  const plans = watch(yes, {
    ...files,
    depth: subfoldersMax,
    ignored: (path, stats) => isHidden(yes, path) || (stats?.isFile() === true && isOther(path)),
  });
  plans.on('add', arrivals.plan).on('change', arrivals.plan).on('error', arrivals.failed);
  const noteOf = (path: string): string | undefined => /^plan_blocked_(.+)\.md$/.exec(basename(path))?.[1];
  const answered = (path: string): void => arrivals.note(noteOf(path) ?? '');
  const notesWatch = watch(notes, {
    ...files,
    depth: 0,
    ignored: (path, stats) => stats?.isFile() === true && noteOf(path) === undefined,
  });
  notesWatch.on('add', answered).on('change', answered).on('error', arrivals.failed);
  const config = servers === undefined ? undefined : watch(servers, { ...files, ignoreInitial: true });
  config?.on('add', arrivals.servers).on('change', arrivals.servers).on('error', arrivals.failed);
  const all = [plans, notesWatch, ...(config === undefined ? [] : [config])];
  await Promise.all(all.map(one => new Promise<void>(done => one.once('ready', done))));
  return async () => void (await Promise.all(all.map(one => one.close())));
}
