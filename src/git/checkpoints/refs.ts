// Names of what we keep in a repository: a ref per checkpoint, a ref of notes per loop; plain pushes leave both out.
import { Bug } from '../../text/errors.ts';
import { type GitPlace, git } from '../call.ts';

/** Who makes checkpoints and notes. */
export const identity = {
  GIT_AUTHOR_NAME: 'Ralph',
  GIT_AUTHOR_EMAIL: 'ralph@localhost',
  GIT_COMMITTER_NAME: 'Ralph',
  GIT_COMMITTER_EMAIL: 'ralph@localhost',
};

export const refOf = (loop: string, number: number): string => `${folderOf(loop)}/${number}`;

export const noteRefOf = (loop: string): string => `refs/notes/ralph/${checked(loop)}`;

const folderOf = (loop: string): string => `refs/ralph/${checked(loop)}`;

function checked(loop: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]*$/.test(loop)) throw new Bug(`not a name for refs: ${JSON.stringify(loop)}`);
  return loop;
}

/** The loop's checkpoints in this repository, by number. */
export async function checkpointRefs(place: GitPlace, loop: string): Promise<ReadonlyMap<number, string>> {
  const folder = folderOf(loop);
  const found = await git(place, ['for-each-ref', '--format=%(objectname) %(refname)', `${folder}/`]);
  const rows = found.output.toString('latin1').trim().split('\n');
  return new Map(
    rows.flatMap(row => {
      const [commit = '', ref = ''] = row.split(' ');
      const number = ref.slice(folder.length + 1);
      return /^\d+$/.test(number) ? [[Number(number), commit] as const] : [];
    }),
  );
}
