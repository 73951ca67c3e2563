// What is typed behind a slash command: words of any kind, then options, or a refusal where nobody can tell them apart.
import { expect, it } from 'vitest';
import { splitCommand, typedCommand } from '../../src/hook/typed-command.ts';

const hostile = 'Don\'t $(touch a) `touch b` "it" ; touch c\n\n---\n!`touch d` \\n $HOME $1 $ARGUMENTS';

it.each<[string, string, string, readonly string[]]>([
  ['words alone', 'Mend the parser', 'Mend the parser', []],
  [
    'options at the end',
    'Mend it --max-iterations 3 --verify "npm test"',
    'Mend it',
    ['--max-iterations', '3', '--verify', 'npm test'],
  ],
  ['an option with =', 'Mend it --max-iterations=3', 'Mend it', ['--max-iterations', '3']],
  [
    'an option without a value',
    'Mend it --headless-ok --verify true',
    'Mend it',
    ['--headless-ok', '--verify', 'true'],
  ],
  [
    'a value that holds an option',
    "Mend it --verify 'npm --silent test'",
    'Mend it',
    ['--verify', 'npm --silent test'],
  ],
  ['quotes in a value', 'Mend it --promise "say \\"hi\\""', 'Mend it', ['--promise', 'say "hi"']],
  ['quotes around all words', '"Mend it" --max-iterations 3', 'Mend it', ['--max-iterations', '3']],
  ['what looks like an option, quoted (B06)', '"do it --max-iterations 3"', 'do it --max-iterations 3', []],
  [
    'an option in quoted words, one behind',
    '"Explain --verify" --verify true',
    'Explain --verify',
    ['--verify', 'true'],
  ],
  ['quotes that are no pair', '"a" and "b"', '"a" and "b"', []],
  ['what a shell would take', `${hostile} --verify true`, hostile, ['--verify', 'true']],
  ['a dash that is none', 'Draw -- and --- as lines', 'Draw -- and --- as lines', []],
  ['nothing', ' ', '', []],
  ['an empty value', 'Mend it --completion-promise ""', 'Mend it', ['--completion-promise', '']],
])('takes %s', (_name, text, what, options) => {
  expect(splitCommand(text)).toEqual({ ok: true, what, options });
});

it.each([
  ['a value of two words without quotes', 'Mend it --verify npm test'],
  ['options before the words', '--max-iterations 3 Mend it'],
  ['an option among the words', 'Explain --verify in one page'],
])('refuses %s, and says what to do', (_name, text) => {
  expect(splitCommand(text)).toEqual({ ok: false, problem: expect.stringMatching(/^--[a-z-]+ stands among.*quotes/) });
});

it('takes no more time for many options than for one', () => {
  const split = splitCommand('--a '.repeat(200_000).concat('x'));
  expect(split.ok).toBe(false);
});

it('knows which command of which session it is, and takes no other command for one', () => {
  const event = {
    hook_event_name: 'UserPromptExpansion',
    session_id: 's1',
    cwd: '/p',
    command_name: 'ralph:ralph-loop',
    command_args: 'Draw',
  };
  expect(typedCommand(event)).toEqual({ name: 'ralph-loop', session: 's1', directory: '/p', text: 'Draw' });
  expect(typedCommand({ ...event, command_name: 'other' })).toBeUndefined();
  expect(typedCommand({ ...event, session_id: undefined })).toBeUndefined();
});
