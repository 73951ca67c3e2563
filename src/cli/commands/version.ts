// Prints the version; `bin/ralph` answers the plain word before any of this is loaded.
import { version } from '../../version.ts';
import type { Context } from '../context.ts';

export async function execute(context: Context): Promise<number> {
  context.print(version());
  return 0;
}
