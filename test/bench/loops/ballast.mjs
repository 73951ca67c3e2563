// Makes the process that loads it as large as `?mb=` says: what starting programs costs may depend on it.
const wanted = Number(new URL(import.meta.url).searchParams.get('mb')) - process.memoryUsage.rss() / 2 ** 20;
globalThis.ballast = Buffer.alloc(Math.max(0, wanted - 40) * 2 ** 20, 1); // Ralph itself adds some 40 to a bare Node
