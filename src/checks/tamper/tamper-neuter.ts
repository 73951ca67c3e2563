// When a line of shell proves nothing or hides a failure, and how a finding about a check is said.
import type { Finding, Severity } from './tamper-finding.ts';
import { simpleCommands } from './command-line.ts';
import { stripControls, takeCharacters } from '../../text/text.ts';

const soothing = [
  /\|\|[ \t]*(?:true|:|\/bin\/true|echo|exit 0|return 0)(?=$|[\s;&|)"'])/gm,
  /(?:^|[\s;&|])(?:exit|return) 0(?=$|[\s;&|)"'])/gm,
  /(?:^|[\s;&|])set \+e(?=$|[\s;])/gm,
  /;[ \t]*(?:true|:)[ \t]*(?=$|["'])/gm,
  /--?pass-?with-?no-?tests|--exit-zero|--no-error-on-unmatched-pattern|--maxfail=0/gi,
];

/** How often a line of shell makes a failure look like a success. */
export const soothed = (text: string): number =>
  soothing.reduce((sum, pattern) => sum + (text.match(pattern)?.length ?? 0), 0);

/** It does nothing that could fail: `true`, `echo ok`, `exit 0`, nothing. */
export function provesNothing(script: string): boolean {
  return simpleCommands(script.replaceAll('\n', ';')).every(
    ([program = '', argument]) =>
      /^(true|:|echo|printf|set|#!.*)$/.test(program) || (/^(exit|return)$/.test(program) && argument === '0'),
  );
}

export const finding = (path: string, detail: string, severity: Severity = 'refuse'): Finding => ({
  kind: severity === 'refuse' ? 'check-neutered' : 'configuration-changed',
  path,
  detail,
  severity,
});

const shownCharsMax = 120;

function shortened(text: string): string {
  const line = stripControls(text).replace(/\s+/g, ' ').trim();
  const shown = takeCharacters(line, shownCharsMax);
  return JSON.stringify(shown === line ? line : `${shown}… (${line.length} characters)`);
}

/** What it was and what it is, for a person to compare. */
export const beforeAndAfter = (before: string, after: string): string =>
  `it was ${shortened(before)}, it is ${shortened(after)}`;
