// Puts a new loop into its place for a person: a signal takes it back, and checks that are red at the start are asked about.
import { placeFirst, redRefusal, type Started } from '../app/session/begin.ts';
import type { Prepared } from '../app/session/prepare.ts';
import { UsageError } from '../text/errors.ts';
import type { CheckResult } from '../checks/check.ts';
import type { Chosen } from './choose.ts';
import { confirm } from './confirm.ts';
import { watchSignals } from './interrupt.ts';
import { plain } from './terminal.ts';

/** What a check prints may hold anything. */
function redWords({ name, detail }: CheckResult): string {
  const last = plain(detail).trim().split('\n').slice(-6);
  return [`red at the start: ${name}`, ...last.map(line => `    ${line}`)].join('\n');
}

/** Undefined: the person at the terminal does not want to begin. */
export async function placeNew(
  prepared: Prepared,
  chosen: Chosen,
  say: (line: string) => void,
  interactive: boolean,
  isLoop: (id: string) => boolean = () => true,
  announce: (line: string) => void = () => {},
): Promise<Started | undefined> {
  const interrupt = watchSignals(() => {});
  const beginning = { say, announce, stop: interrupt.signal, isLoop };
  const begun = await placeFirst(prepared, chosen, beginning).finally(() => interrupt.close());
  if (begun === undefined)
    throw new UsageError('Stopped before any work: no loop was begun.', '', interrupt.exitCode());
  const { placed, red } = begun;
  for (const one of red) say(redWords(one));
  if (red.length === 0 || prepared.run.config.allowRedStart) return placed;
  if (
    interactive &&
    (await confirm('Nothing was done yet, and this fails. Press Enter to begin all the same, Ctrl-C to leave '))
  ) {
    return placed;
  }
  await placed.leave();
  if (interactive) return undefined;
  throw redRefusal(red);
}
