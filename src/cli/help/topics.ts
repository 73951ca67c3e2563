// Topics of `ralph help TOPIC`: what is about no single command. The reference page shows the same table of exit codes.

import { levelMeanings, levelWords, type ProofLevel } from '../../core/task.ts';

interface ExitCode {
  readonly code: string;
  readonly means: string;
  /** What to do then. */
  readonly next: string;
}

export const exitCodes: readonly ExitCode[] = [
  { code: '0', means: 'done, or ended by `ralph stop`', next: '`ralph report`' },
  {
    code: '1',
    means: 'internal error, or `ralph audit verify` found a broken chain',
    next: 'run the same command again; `--debug` shows the stack',
  },
  { code: '2', means: 'a flag, a setting or the document was refused; nothing was started', next: 'read the sentence' },
  { code: '3', means: 'stopped: iterations or time used up', next: '`ralph resume LOOP --max-iterations N`' },
  { code: '4', means: 'stopped: money or tokens used up', next: '`ralph resume LOOP --max-cost AMOUNT`' },
  {
    code: '5',
    means: 'waits for you: a question, a full disk, or a document that cannot be written',
    next: '`ralph inbox`, `ralph answer`, then the same command again',
  },
  {
    code: '6',
    means: 'stopped: errors in a row, no progress, or an agent that is stuck; also when every task was skipped',
    next: '`ralph explain`, `ralph logs`, then `ralph resume LOOP`',
  },
  {
    code: '7',
    means: 'no agent is installed, or it cannot work: login, credit, permission',
    next: '`ralph doctor`, `ralph agents test`',
  },
  {
    code: '8',
    means:
      'work is left, and the last "done" of every open task failed its check, also when you are asked about it; or `--require-checks`, and something was closed unverified',
    next: '`ralph explain`, `ralph inbox`',
  },
  { code: '9', means: 'another process works on this loop', next: '`ralph status`' },
  { code: '10', means: '`--sandbox bwrap`, and bubblewrap does not work here', next: '`ralph doctor`' },
  { code: '130', means: 'Ctrl-C', next: 'the same command resumes' },
  { code: '143', means: 'SIGTERM, or the terminal was closed', next: 'the same command resumes' },
];

interface Topic {
  readonly summary: string;
  /** Terms and what they mean. */
  readonly rows: readonly (readonly [term: string, meaning: string])[];
}

const levels = Object.keys(levelWords) as ProofLevel[];

const unmarked = (text: string): string => text.replaceAll('`', '');

export const topics: Readonly<Record<string, Topic>> = {
  'exit-codes': {
    summary: 'how a run ended, for scripts, and what to do then',
    rows: exitCodes.map(({ code, means, next }) => [code, unmarked(`${means} -> ${next}`)]),
  },
  done: {
    summary: 'what "done" means: an agent only claims it; your checks decide',
    rows: [
      ...levels.map(level => [levelWords[level], levelMeanings[level]] as const),
      ['blocked', 'its attempts are used up; its files are set aside, and ralph task retry ID opens it again'],
      ['skipped', 'left out by you; ralph task retry ID opens it again'],
    ],
  },
  files: {
    summary: 'where Ralph keeps things; RALPH_HOME moves all but the first two',
    rows: [
      ['your project', 'the task document, the commits of done tasks, and git refs below refs/ralph'],
      ['ralph.config.json', 'settings of the project; ~/.config/ralph/config.json holds your own'],
      ['~/.local/share/ralph', 'the home folder of Ralph, unless XDG_DATA_HOME or RALPH_HOME says otherwise'],
      ['  ralph.db', 'every event of every loop'],
      ['  loops/ID/', 'status, report, and the prompt and output of each iteration'],
      ['  worktrees/', 'the folders of --worktree and --parallel'],
    ],
  },
};
