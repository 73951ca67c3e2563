// Reads the JSON of a document whose work is one list of objects: faults, doubled keys and dangerous keys are told by place.
import type { Parsed, ParsedDocument, Problem } from './document.ts';
import { byteOrderMark, type JsonFault, type JsonWatcher, scanJson } from './json.ts';
import { ProblemList } from './problems.ts';
import { shown } from '../text/shown-text.ts';
import { conflictOffset, positionAt } from './text-position.ts';

const textCharsMax = 64 * 1024 * 1024;
const dangerousKeys = new Set(['__proto__', 'constructor', 'prototype']);

/** `read` gives undefined when the value is no such document at all; with problems added, the document is not used. */
export function parseJsonDocument(
  text: string,
  listKey: string,
  read: (value: unknown, problems: ProblemList) => ParsedDocument | undefined,
): Parsed {
  if (text.length > textCharsMax) {
    return refused({ message: 'The document is larger than 64 MB.', fix: 'Split the work into several files.' });
  }
  const problems = new ProblemList();
  const fault = scanJson(text, keyWatcher(listKey, problems));
  if (fault) return refused(jsonProblem(text, fault));
  const document = read(JSON.parse(text.startsWith(byteOrderMark) ? text.slice(1) : text), problems);
  if (document === undefined || problems.count > 0) return { ok: false, problems: problems.located(text) };
  return { ok: true, document };
}

function refused(problem: Problem): Parsed {
  return { ok: false, problems: [problem] };
}

function jsonProblem(text: string, fault: JsonFault): Problem {
  const conflict = conflictOffset(text);
  if (conflict !== undefined) {
    return {
      message: 'The document holds the markers of an unfinished merge.',
      fix: 'Resolve the conflict, then remove the <<<<<<<, ======= and >>>>>>> lines.',
      ...positionAt(text, conflict),
    };
  }
  return { message: fault.message, fix: fault.fix, ...positionAt(text, fault.offset) };
}

/** JSON.parse keeps the last of two equal keys in silence; a task must not change its meaning that way. */
function keyWatcher(listKey: string, problems: ProblemList): JsonWatcher {
  const documentKeys = new Set<string>();
  const memberKeys = new Set<string>();
  let member: string | number | undefined;
  return {
    key(path, depth, offset) {
      const key = path[depth - 1] as string;
      if (dangerousKeys.has(key)) {
        problems.add(offset, `The key ${shown(key)} is not allowed.`, 'Rename or remove it.');
      }
      const isInMember = depth === 3 && path[0] === listKey;
      if (depth === 1) member = undefined;
      if (isInMember && path[1] !== member) {
        member = path[1];
        memberKeys.clear();
      }
      const seen = depth === 1 ? documentKeys : isInMember ? memberKeys : undefined;
      if (seen?.has(key)) problems.add(offset, `The key ${shown(key)} stands twice.`, 'Keep one of the two.');
      seen?.add(key);
    },
  };
}
