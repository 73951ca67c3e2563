// Reads a judge's answer: one JSON object with a verdict on every criterion, or no verdict at all.
import { fieldsOf } from '../text/fields.ts';
import { oneLine } from '../text/text.ts';

interface CriterionVerdict {
  readonly criterion: number;
  readonly passed: boolean;
  readonly evidence: string;
}

export type Verdict =
  | { readonly ok: true; readonly criteria: readonly CriterionVerdict[]; readonly summary: string }
  | { readonly ok: false; readonly problem: string };

const messageCharsMax = 200_000;
const evidenceCharsMax = 500;
const summaryCharsMax = 1_000;

const no = (problem: string): Verdict => ({ ok: false, problem });

/** `after`: what it said after its answer. A second thought there could take the answer back, so there must be none. */
type Found = { readonly text: string; readonly after: string } | { readonly problem: string };

/** What stands between fences that begin a line; without any, from the first brace to the last. Never two candidates. */
function jsonIn(message: string): Found {
  const fences = [...message.matchAll(/(?<=^|\n) {0,3}```[^\n]*\n?/g)].map(({ index, 0: line }) => ({
    at: index,
    end: index + line.length,
  }));
  if (fences.length % 2 === 1) return { problem: 'its answer ends inside a block' };
  const blocks = fences.flatMap(({ end: start }, index) => {
    const close = index % 2 === 0 ? fences[index + 1] : undefined;
    return close === undefined ? [] : [{ text: message.slice(start, close.at), end: close.end }];
  });
  const [only, ...others] = blocks.filter(block => block.text.trimStart().startsWith('{'));
  if (others.length > 0) return { problem: 'it gave more than one answer' };
  if (only !== undefined) return { text: only.text, after: message.slice(only.end) };
  const [from, to] = [message.indexOf('{'), message.lastIndexOf('}')];
  return from === -1 || to < from
    ? { problem: 'its answer holds no JSON object' }
    : { text: message.slice(from, to + 1), after: message.slice(to + 1) };
}

/** One entry of the list, or what is wrong with it. */
function readCriterion(entry: unknown, count: number): CriterionVerdict | string {
  const { criterion, verdict, evidence } = fieldsOf(entry);
  if (typeof criterion !== 'number' || !Number.isInteger(criterion) || criterion < 1 || criterion > count)
    return 'a verdict in its answer names no criterion';
  if (verdict !== 'pass' && verdict !== 'fail') return `its verdict on criterion ${criterion} is neither pass nor fail`;
  if (typeof evidence !== 'string' || evidence.trim() === '')
    return `its verdict on criterion ${criterion} has no evidence`;
  return { criterion, passed: verdict === 'pass', evidence: oneLine(evidence, evidenceCharsMax) };
}

/** Never throws. `count`: how many criteria there are, at least one. */
export function verdictOf(message: string, count: number): Verdict {
  if (message.trim() === '') return no('it gave no answer');
  if (message.length > messageCharsMax)
    return no(`its answer has ${message.length} characters, which is too long to be one`);
  const found = jsonIn(message);
  if ('problem' in found) return no(found.problem);
  let answer: unknown;
  try {
    answer = JSON.parse(found.text);
  } catch {
    return no('its answer is not valid JSON');
  }
  const { criteria: list, summary } = fieldsOf(answer);
  if (!Array.isArray(list)) return no('its answer has no list of criteria');
  if (list.length !== count) return no(`its answer has ${list.length} verdicts for ${count} criteria`);
  const criteria: CriterionVerdict[] = [];
  for (const entry of list) {
    const read = readCriterion(entry, count);
    if (typeof read === 'string') return no(read);
    if (criteria.some(one => one.criterion === read.criterion))
      return no(`it judged criterion ${read.criterion} twice`);
    criteria.push(read);
  }
  if (found.after.trim() !== '') return no('it wrote something after its answer');
  criteria.sort((a, b) => a.criterion - b.criterion);
  return { ok: true, criteria, summary: typeof summary === 'string' ? oneLine(summary, summaryCharsMax) : '' };
}
