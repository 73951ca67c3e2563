// Watches the folder of approved plans; the only file that knows chokidar, which is loaded when somebody watches.

const settleMs = 300; // a plan whose size and time stand still so long is completely written
const lookMs = 50;

export interface Arrivals {
  /** No call comes after it. */
  readonly close: () => Promise<void>;
}

/** Resolves when everything that is there already was told. */
export async function watchArrivals(
  folder: string,
  arrived: (path: string) => void,
  failed: (error: unknown) => void,
): Promise<Arrivals> {
  const { watch } = await import('chokidar');
  const watcher = watch(folder, {
    depth: 0,
    followSymlinks: false,
    ignored: (path, stats) => stats?.isFile() === true && !/\/[^./][^/]*\.md$/i.test(path),
    awaitWriteFinish: { stabilityThreshold: settleMs, pollInterval: lookMs },
  });
  watcher.on('add', arrived).on('change', arrived).on('error', failed);
  await new Promise<void>(done => {
    watcher.once('ready', done);
  });
  return { close: () => watcher.close() };
}
