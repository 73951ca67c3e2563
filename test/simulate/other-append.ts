// A ledger whose appends go another way: for crashes, fences and full disks.
import type { Ledger, Store } from '../../src/ledger/ledger.ts';

export function withAppend(ledger: Ledger, append: Store['append']): Ledger {
  const { store } = ledger;
  return {
    ...ledger,
    store: {
      append,
      read: (...call) => store.read(...call),
      loops: (...call) => store.loops(...call),
      follow: (...call) => store.follow(...call),
      cursor: () => store.cursor(),
      lease: (...call) => store.lease(...call),
      renew: (...call) => store.renew(...call),
      release: (...call) => store.release(...call),
      holder: (...call) => store.holder(...call),
      forget: (...call) => store.forget(...call),
      verify: (...call) => store.verify(...call),
      close: () => store.close(),
    },
  };
}
