// B13: whatever is typed as a name becomes a slug that is safe everywhere, or is refused.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { slugOf } from '../../src/config/values.ts';

describe('B13: the name of a loop', () => {
  test.each([
    ['add-login', 'add-login'],
    ['Add Login!', 'add-login'],
    ['../../etc', 'etc'],
    ['a/b', 'a-b'],
    ['Größe café', 'gro-e-cafe'],
    ['ﬁle ①', 'file-1'],
    ['--x--', 'x'],
    ['rocket 🚀 go', 'rocket-go'],
    ['\u202egnp.exe', 'gnp-exe'],
    ['x'.repeat(300), 'x'.repeat(63)],
    [`${'x'.repeat(62)} y`, 'x'.repeat(62)],
    ['9', '9'],
  ])('B13: %j becomes %j', (text, slug) => {
    expect(slugOf(text)).toEqual({ ok: true, value: slug });
  });

  test.each(['', '.', '..', '/', '   ', '🚀', '\u202e', '---', '名前'])(
    'B13: %j has nothing to make a name of',
    text => {
      const reading = slugOf(text);
      expect(reading.ok ? reading.value : reading.problem).toContain('has no letter a-z or digit');
    },
  );

  test.each(['CON', 'nul', 'com1', 'LPT9', 'aux.', '.prn'])(
    'B13: %j is a device on Windows and is refused with another name',
    text => {
      const reading = slugOf(text, '--name');
      expect(reading.ok ? reading.value : reading.problem).toMatch(
        /^--name: .* device on Windows; use a name like .*-loop\.$/,
      );
    },
  );

  test('B13: for any text the result is a valid slug or a problem, and a slug is its own slug', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 100 }), text => {
        const reading = slugOf(text);
        if (!reading.ok) return;
        expect(reading.value).toMatch(/^[a-z0-9][a-z0-9-]{0,62}$/);
        expect(slugOf(reading.value)).toEqual(reading);
      }),
    );
  });
});
