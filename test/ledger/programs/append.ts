// Appends guidance to a loop of a ledger and prints how each append went, one word a line: append.ts PATH LOOP COUNT WHO
import { openSqliteLedger } from '../../../src/ledger/sqlite.ts';

const [path, loop, count, who] = process.argv.slice(2) as [string, string, string, string];
const tell = (line: string): boolean => process.stdout.write(`${line}\n`);
const opened = await openSqliteLedger({
  path,
  version: '1',
  boot: 'boot',
  isAlive: () => true,
  now: Date.now,
  warn: tell,
});
if (opened.ok) {
  const { store } = opened.ledger;
  let seq = 0;
  for (let done = 0; done < Number(count); ) {
    const event = { type: 'guidance.given', at: done, text: `${who} ${done}`, by: who, because: 'told' } as const;
    const appended = await store.append(loop, seq, [event]);
    if (!appended.ok && appended.failure.kind === 'conflict') {
      while ((await store.read(loop, seq)).length > 0) seq = (await store.read(loop, seq)).at(-1)?.seq ?? seq;
      continue;
    }
    done += 1;
    if (appended.ok) seq = appended.seq;
    tell(appended.ok ? 'ok' : appended.failure.kind);
  }
  await store.close();
} else {
  tell(opened.failure.kind);
  tell(opened.failure.detail);
  tell(opened.failure.hint);
}
