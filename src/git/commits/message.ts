// A commit of ours as people see it: under the user's name, with a message that says which work it is.
import type { CommitOrder } from '../workspace.ts';
import { type GitPlace, git, listOf } from '../call.ts';

const subjectCharsMax = 100;

const oneLine = (text: string): string =>
  text.replace(/[\s\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]+/g, ' ').trim();

/** The trailers are for programs: `git log --format='%(trailers:key=Ralph-Task)'`. */
export function messageOf(order: Omit<CommitOrder, 'spans' | 'document'>, note = ''): string {
  const subject = oneLine(`${order.task}: ${order.title}`);
  const shortened = subject.length > subjectCharsMax ? `${subject.slice(0, subjectCharsMax - 1)}…` : subject;
  const trailers = [`Ralph-Loop: ${order.loop}`, `Ralph-Task: ${order.task}`, `Ralph-Iteration: ${order.iteration}`];
  const body = `Done by a loop of Ralph, in iteration ${order.iteration}.${note === '' ? '' : ` ${oneLine(note)}`}`;
  return [shortened, '', body, '', ...trailers.map(oneLine), ''].join('\n');
}

/** What the history of refs says. */
export const reasonOf = (order: Pick<CommitOrder, 'task'>): string => oneLine(`ralph: ${order.task}`).slice(0, 100);

/** The user's own name from git's settings; ours only when there is none. */
export async function identityOf(place: GitPlace): Promise<Readonly<Record<string, string>>> {
  const found = await git(place, ['config', '-z', '--get-regexp', '^(user|author|committer)\\.(name|email)$']);
  const values = new Map<string, string>();
  for (const one of listOf(found)) {
    const at = one.indexOf('\n');
    values.set(one.slice(0, at), one.slice(at + 1).trim());
  }
  const as = (role: 'author' | 'committer') => {
    const name = values.get(`${role}.name`) ?? values.get('user.name') ?? '';
    const email = values.get(`${role}.email`) ?? values.get('user.email') ?? '';
    return name === '' || email === '' ? { name: 'Ralph', email: 'ralph@localhost' } : { name, email };
  };
  const author = as('author');
  const committer = as('committer');
  return {
    GIT_AUTHOR_NAME: author.name,
    GIT_AUTHOR_EMAIL: author.email,
    GIT_COMMITTER_NAME: committer.name,
    GIT_COMMITTER_EMAIL: committer.email,
  };
}
