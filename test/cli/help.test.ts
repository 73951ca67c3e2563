// The help of every command and group: what it does, an example, flags under headings; whole at 80 columns and at 60.
import { describe, expect, it } from 'vitest';
import { commands, nameOf } from '../../src/cli/command-table.ts';
import { commandGroups } from '../../src/cli/global-flags.ts';
import { commandHelp, groupHelp } from '../../src/cli/help/help.ts';
import { unquotedHint } from '../../src/cli/help/unquoted.ts';
import { inScratch, refused } from './kit.ts';

const rowOf = (name: string) => commands.find(row => nameOf(row).join(' ') === name)!;
const headings = (text: string): readonly string[] => [...text.matchAll(/^(\w.*):$/gm)].map(match => match[1]!);
const groups = [...new Set(commands.filter(row => nameOf(row).length > 1).map(row => nameOf(row)[0]!))];

describe('help of a command', () => {
  it('shows the flags of run under headings, and each flag once', () => {
    const help = commandHelp(rowOf('run'), 80);
    expect(headings(help)).toEqual([
      'Examples',
      'Start',
      'Agent',
      'Limits',
      'Checks',
      'Git',
      'Questions',
      'Mode and document',
      'Output',
      'Every command',
    ]);
    const flags = [...help.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(match => match[1]);
    expect(new Set(flags).size).toBe(flags.length);
    expect(flags.length).toBeGreaterThan(rowOf('run').options!.length);
  });

  it.each(commands.map(row => [nameOf(row).join(' '), row] as const))(
    'ralph %s fits 80 and 60 columns',
    (_name, row) => {
      for (const columns of [80, 60]) {
        const help = commandHelp(row, columns);
        expect(help.split('\n').filter(line => line.length > columns)).toEqual([]);
        expect(help).toMatch(/^Usage: ralph .*\n\n[A-Z]/);
      }
      expect(row.examples.length).toBeGreaterThan(0);
    },
  );
});

it('an example that goes on in the next line is still what a shell takes: no text in quotes is broken', () => {
  const help = commands.map(row => commandHelp(row, 60)).join('');
  const broken = [...help.matchAll(/^ {2}(.*) \\$/gm)].map(match => match[1]!);
  expect(broken.length).toBeGreaterThan(5);
  expect(broken.filter(line => line.split("'").length % 2 === 0)).toEqual([]);
});

describe('help of a command group', () => {
  it('there is one for each first word of two', () => {
    expect(groups.toSorted()).toEqual(Object.keys(commandGroups).toSorted());
  });

  it.each(groups)('ralph %s --help says what it is about, names each command and shows examples', group => {
    for (const columns of [80, 60]) {
      const help = groupHelp(group, columns);
      expect(help.split('\n').filter(line => line.length > columns)).toEqual([]);
      expect(help).toMatch(/Examples:\n {2}ralph /);
      for (const row of commands.filter(one => nameOf(one)[0] === group)) expect(help).toContain(`  ${row.usage}`);
    }
  });
});

describe('a goal without quotes', () => {
  const hint = (command: string, ...typed: readonly string[]) =>
    unquotedHint({ command, typed, words: typed.filter(word => !word.startsWith('-')) });

  it('through the command line: one sentence with the command to type, and nothing is written', () =>
    inScratch(async place => {
      const typed = ['run', 'make', 'the', '--max-cost', '5', 'tests', 'pass'];
      const wanted = /^ralph: Put the goal in quotes: ralph run "make the tests pass" --max-cost 5\n$/;
      await refused(place, typed, wanted);
      await refused(
        place,
        ['make', 'the', 'tests', 'pass', '--yes'],
        /"make" is no command; if this is a goal: ralph run "/,
      );
      await refused(place, ['rn', 'make', 'it', 'work'], /Unknown command 'rn'; did you mean run\?/);
    }));

  it('quotes what a shell would change', () => {
    expect(hint('run', 'print', '$HOME')).toBe("Put the goal in quotes: ralph run 'print $HOME'");
    expect(hint('tell', 'keep', 'it')).toBe('Put the text in quotes: ralph tell "keep it"');
  });

  it('two documents are no goal, and a command that takes no text is told nothing', () => {
    expect(hint('run', 'README.md', 'docs')).toMatch(/one document at a time.*: ralph run README\.md$/);
    expect(hint('status', 'a', 'b')).toBeUndefined();
  });
});
