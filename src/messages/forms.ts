// Forms of the contract, as prompts show them and as explanations of near misses repeat them; and what is only their echo.

export const doneLine = (task: string): string => `Task ${task} complete`;
export const promiseLine = (promise: string): string => `<promise>${promise}</promise>`;
export const boxLine = '- [x] TASK_COMPLETE';
export const reportForm = '<report>{"phase": "implementing", "completed": ["..."], "pending": ["..."]}</report>';
export const escalateForm =
  '<escalate type="stuck"><summary>one line</summary><question>the question to answer</question></escalate>';
export const handoffForm = '<handoff>your reason</handoff>';

const placeholders = new Set(['why', 'reason', 'your reason', 'one line', 'one-line description', '...', '\u2026']);

/** What a form has where words of one's own belong. */
export const isPlaceholder = (text: string): boolean => placeholders.has(text.trim().toLowerCase());

/** A token may stand alone as the promise; ordinary words are said too easily. */
export const isToken = (promise: string): boolean => promise.includes('_') && !/\s/.test(promise);

/** A promise that nobody can see is said by accident. */
export const isVisible = (promise: string): boolean => /[\p{L}\p{N}\p{P}\p{S}]/u.test(promise);
