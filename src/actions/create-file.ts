// Makes the file that a step of a plan asks for: inside the vault or the repository, and never over another file.
import type { Assignment, Performer } from '../agents/performer.ts';
import { failed, fileAction, type Prepared, type Written } from './file-action.ts';
import { type Made, makeFile } from './new-file.ts';
import { type Place, placeOf, type Roots, wayBelow } from './place.ts';

export type CreateFileOptions = Roots;

/** Doing it twice is as good as once: the same file with the same content is a success. */
export function createFile(roots: CreateFileOptions): Performer {
  return fileAction('create_file', assignment => prepare(roots, assignment));
}

async function prepare(roots: Roots, { order }: Assignment): Promise<Prepared> {
  if (order?.type !== 'create_file') return failed('invalid', 'this is no order to make a file');
  const place = await placeOf(order.path, roots);
  if ('problem' in place) return failed('invalid', `the path ${shown(order.path)} ${place.problem}`);
  return { write: async () => told(place, await makeFile(place.parent, place.path, order.content)) };
}

const others = {
  content: 'is there already, with other content',
  folder: 'is there already, and is a folder',
  link: 'is there already, and is a link',
  special: 'is there already, and is no plain file',
} as const;

function told({ path, root }: Exclude<Place, { problem: string }>, made: Made): Written {
  const name = shown(wayBelow(root, path) ?? path);
  if (made.type === 'made') return { message: `Made ${name} in ${shown(root)}.` };
  if (made.type === 'same') return { message: `${name} is there already, with this content.` };
  if (made.type === 'moved') return failed('refused', `the folder of ${name} was moved or linked meanwhile`);
  return failed('refused', `${name} ${others[made.what]}`);
}

/** The rest of a path that was refused may be anything. */
function shown(path: string): string {
  return JSON.stringify(path.slice(0, 200)).replace(/[\p{Cf}\p{Zl}\p{Zp}]/gu, '\u00b7');
}
