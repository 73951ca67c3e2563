// Findings of the tamper screen: the sentence for each, and which of them refuse a claim.
import { stripControls, takeCharacters } from '../../text/text.ts';
import type { Doubt, Finding, FindingKind } from '../event.ts';

const words: Readonly<Record<FindingKind, string>> = {
  'test-deleted': 'A test file was deleted',
  'test-skipped': 'Tests were skipped',
  'fewer-assertions': 'There are fewer assertions',
  'fewer-tests': 'There are fewer tests',
  'check-neutered': 'A check was weakened',
  'nothing-changed': 'The task is said to be done, and nothing was changed',
  'configuration-changed': 'What decides how tests run was changed',
};

const shownMax = 20;
const pathCharsMax = 200;

/** One sentence per finding, for the next prompt and for a person. */
export function describeFindings(findings: readonly Finding[]): string {
  const lines = findings.slice(0, shownMax).map(({ kind, path, detail }) => {
    const place = path === '' ? '' : ` in ${takeCharacters(stripControls(path).replaceAll('\n', ' '), pathCharsMax)}`;
    return `${words[kind]}${place}: ${detail}.`;
  });
  const more = findings.length - shownMax;
  return [...lines, ...(more > 0 ? [`And ${more} more of the kind.`] : [])].join('\n');
}

const aboutTests: ReadonlySet<FindingKind> = new Set([
  'test-deleted',
  'test-skipped',
  'fewer-assertions',
  'fewer-tests',
]);

/** The findings for which the work is not done: not accepted before, and not what the task may do. */
export function refusing(
  doubts: readonly Doubt[],
  { accepted, mayChangeTests }: { readonly accepted: readonly string[]; readonly mayChangeTests: boolean },
): readonly Doubt[] {
  return doubts.filter(
    ({ severity, fingerprint, kind }) =>
      severity === 'refuse' && !accepted.includes(fingerprint) && !(mayChangeTests && aboutTests.has(kind)),
  );
}
