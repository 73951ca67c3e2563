// The listing of the user's index: when a loop begins three look at it, and it is asked for once while that index is the same.
import { join } from 'node:path';
import { type GitPlace, listIndex } from './call.ts';
import { stampOf } from './disk.ts';

interface IndexPlace extends GitPlace {
  readonly gitDirectory: string;
}

/** Of the user's own index. */
export const stampOfIndex = ({ gitDirectory }: Pick<IndexPlace, 'gitDirectory'>): Promise<string> =>
  stampOf(join(gitDirectory, 'index'));

type Listed = ReturnType<typeof listIndex>;
let last: { readonly key: string; readonly listed: Listed } | undefined;

/** As `listIndex` gives it now. */
export async function listedIn(place: IndexPlace): Listed {
  const key = `${await stampOfIndex(place)} ${place.gitDirectory}`;
  if (last?.key !== key) last = { key, listed: listIndex(place) };
  return last.listed;
}

/** The loop has begun: it would only take room. */
export function forgetListing(): void {
  last = undefined;
}
