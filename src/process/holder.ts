// Who this process is to the ledger: enough for others to tell whether it still lives.
import type { Holder } from '../ports/store.ts';
import { startTimeOf, thisHost } from './identity.ts';

export function thisHolder(id: string, version: string): Holder {
  const { host, boot } = thisHost();
  return { id, pid: process.pid, startTime: startTimeOf(process.pid) ?? '', host, boot, version };
}
