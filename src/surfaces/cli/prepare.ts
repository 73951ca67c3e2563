// What `ralph run` looks at before it writes a byte, as flags and one word of the command line say it.
import { type Place, type Prepared, prepareLoop, type Remembered } from '../../app/prepare.ts';

export { refuseProblems } from '../../app/problems.ts';
export type { Prepared, Remembered };

export async function prepare(
  place: Place,
  file: string | undefined,
  flags: Readonly<Record<string, unknown>>,
  remembered?: Remembered,
): Promise<Prepared> {
  return prepareLoop(place, { file, flags, remembered });
}
