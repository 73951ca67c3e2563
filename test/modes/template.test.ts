// Proves that filling a template is one pass: values stay text, whatever they hold, and nothing unknown slips through.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fillTemplate } from '../../src/modes/iteration-prompt.ts';

const values = { name: 'shop', spec: 'spec.md', empty: '' };

it('replaces every known placeholder, with or without spaces, as often as it stands there', () => {
  const { text, used, problems } = fillTemplate('{{name}} {{ name }}{{\tspec\t}}|{{empty}}|', values);
  expect(text).toBe('shop shopspec.md||');
  expect([...used].sort()).toEqual(['empty', 'name', 'spec']);
  expect(problems).toEqual([]);
});

it.each(['{{spec}}', '$&', '$1 $$ $`', '\\', '\\{{name}}', '}}{{name}}', '{{', '\u202e{{name}}'])(
  'given the value %j, then it stands there as it is',
  value => {
    const { text, problems } = fillTemplate('a{{name}}{{spec}}z', { name: value, spec: value });
    expect(text).toBe(`a${value}${value}z`);
    expect(problems).toEqual([]);
  },
);

it('names what it does not know, once and with its line, and the ones it knows', () => {
  const { text, problems } = fillTemplate('a\n{{nmae}} {{name}}\n{{x.y}} {{nmae}}', values);
  expect(text).toBe('a\n{{nmae}} shop\n{{x.y}} {{nmae}}');
  expect(problems).toEqual([
    {
      message: '{{nmae}} is no placeholder that Ralph knows.',
      line: 2,
      fix: 'Known are empty, name, spec; write \\{{nmae}} if you mean the text itself.',
    },
    expect.objectContaining({ message: '{{x.y}} is no placeholder that Ralph knows.', line: 3 }),
  ]);
});

it.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])(
  'does not take %s for a value, although every object has it',
  name => {
    expect(fillTemplate(`{{${name}}}`, values)).toMatchObject({ text: `{{${name}}}`, problems: [{ line: 1 }] });
  },
);

it('leaves braces that are no placeholder alone, and takes the backslash from one that is meant as text', () => {
  const plain = '{ "a": {"b": 1}} {{}} {{ }} {{#if x}} {{1}} {{a b}} {name} {{name';
  expect(fillTemplate(plain, values)).toMatchObject({ text: plain, problems: [] });
  expect(fillTemplate('\\{{name}} \\{{nobody}} \\\\', values)).toMatchObject({
    text: '{{name}} {{nobody}} \\\\',
    problems: [],
  });
});

it('does not list more than twenty unknown ones', () => {
  const template = Array.from({ length: 200 }, (_none, at) => `{{n${at}}}`).join('\n');
  expect(fillTemplate(template, values).problems).toHaveLength(20);
});

it('takes a megabyte of open braces for text', () => {
  const braces = '{{'.repeat(500_000);
  expect(fillTemplate(braces, values)).toMatchObject({ text: braces, problems: [] });
});

const nasty = fc.oneof(
  fc.string(),
  fc.constantFrom('{{a}}', '{{ b }}', '\\{{a}}', '$&', "$'", '\\', '{{', '}}', '{{c}}', '\n'),
);
const literal = fc.string().map(text => text.replaceAll(/[{}\\]/g, ''));

it('for any values, the text is the pieces of the template with the values between them, and nothing else', () => {
  fc.assert(
    fc.property(
      nasty,
      nasty,
      fc.array(fc.oneof(literal, fc.constantFrom({ of: 'a' }, { of: 'b' }))),
      (a, b, pieces) => {
        const given: Readonly<Record<string, string>> = { a, b };
        const template = pieces.map(piece => (typeof piece === 'string' ? piece : `{{${piece.of}}}`)).join('');
        const wanted = pieces.map(piece => (typeof piece === 'string' ? piece : given[piece.of])).join('');
        const { text, problems } = fillTemplate(template, given);
        expect(text).toBe(wanted);
        expect(problems).toEqual([]);
      },
    ),
    { seed: 2, numRuns: 300 },
  );
});
