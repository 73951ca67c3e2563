import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escalateForm, handoffForm } from '../../src/messages/blocks.ts';
import { readSignals } from '../../src/messages/claims.ts';

const dialect = { task: 'US-001', promise: 'DONE' };
const read = (message: string) => readSignals(message, dialect);
const nothing = { done: false, doneElsewhere: [], promise: false, checkbox: false };

describe('given a message without signals', () => {
  it('when it is empty, blank or prose, then nothing is claimed', () => {
    for (const message of ['', '\n\n', 'I read the code and fixed the test.']) expect(read(message)).toEqual(nothing);
  });

  it('when its last line is the name of something that every object has, then nothing is claimed', () => {
    for (const message of ['constructor', '__proto__', 'toString']) expect(read(message)).toEqual(nothing);
  });
});

describe('given completion lines', () => {
  it('when they name other tasks, then those are listed once each, at most nine, and this one is not done', () => {
    const lines = Array.from({ length: 12 }, (_, index) => `- Task [US-${index + 100}] complete`);
    const signals = read([...lines, ...lines].join('\n'));
    expect(signals.done).toBe(false);
    expect(signals.doneElsewhere).toHaveLength(9);
    expect(signals.doneElsewhere.slice(0, 2)).toEqual(['US-100', 'US-101']);
  });

  it('when they name this and a longer id, then both are told apart', () => {
    const signals = read('Task US-001 complete\nTask US-001-b done\nTask US-0011 done');
    expect(signals).toEqual({ ...nothing, done: true, doneElsewhere: ['US-001-b', 'US-0011'] });
  });

  it('when a bare word stands where an id belongs, then it is no task', () => {
    for (const word of ['is', 'almost', 'not', 'now', 'ID', '{id}'])
      expect(read(`Task ${word} done`)).toMatchObject(nothing);
  });

  it('when claim and denial alternate, then the last one wins', () => {
    expect(read('Task US-001 done\nTask US-001 not done\nTask US-001 done').done).toBe(true);
    expect(read('Task US-001 not done\nTask US-001 done\nTask US-001 not done').done).toBe(false);
  });

  it('when the claim is introduced as a condition, then it is an echo; as a result, then it is a claim', () => {
    expect(read('If all tests pass, write:\n\nTask US-001 complete').done).toBe(false);
    expect(read('All tests pass:\n\nTask US-001 complete').done).toBe(true);
    expect(read('If it fails, see this:\n```\nlog\n```\nTask US-001 complete').done).toBe(true);
  });
});

describe('given a last line that resembles the promise (B57)', () => {
  it.each([
    ['<PROMISE>DONE</PROMISE>', 'exactly <promise>DONE</promise>'],
    ['<promise>OTHER</promise>', 'exactly <promise>DONE</promise>'],
    ['done', 'exactly <promise>DONE</promise>'],
    ['**DONE**', 'exactly <promise>DONE</promise>'],
    ['<promise>DONE</promise>\nBye.', 'must be the last line'],
    ['```\n<promise>DONE</promise>', 'in code'],
    ['    <promise>DONE</promise>', 'in code'],
    ['<escalate>\n</escalate>\n<promise>DONE</promise>', 'escalation beats a promise'],
    ['<escalate type="stuck">\n<promise>DONE</promise>', 'escalation beats a promise'],
  ])('when it is %j, then it is refused and the sentence says: %s', (message, why) => {
    const signals = read(message);
    expect(signals.promise).toBe(false);
    expect(signals.promiseRefused).toContain(why);
  });

  it('when it is the promise, then nothing is refused', () => {
    expect(read('I said <promise>DONE</promise> too early.\n<promise>DONE</promise>')).toEqual({
      ...nothing,
      promise: true,
    });
  });
});

describe('given a checkbox line', () => {
  it.each(['- [x] TASK_COMPLETE', '[x] TASK_COMPLETE', '* [X] TASK_COMPLETE', 'Text\n- [x] TASK_COMPLETE  \n\n'])(
    'when it is %j, then the box is ticked',
    message => expect(read(message).checkbox).toBe(true),
  );

  it.each([
    '- [ ] TASK_COMPLETE',
    '- [x] TASK_COMPLETE?',
    '- [x] task_complete',
    '> - [x] TASK_COMPLETE',
    '```\n- [x] TASK_COMPLETE\n```',
    'When done, add: `- [x] TASK_COMPLETE`',
    '- [x] TASK_COMPLETE\n- [ ] TASK_COMPLETE',
    '- [x] TASK_COMPLETE\n<escalate type="stuck">\n</escalate>',
    '- [x] TASK_COMPLETE\nNo wait, the tests fail.',
    '- [x] TASK_COMPLETE\n<report>{"pending": ["x"]}</report>',
  ])('when it is %j, then it is not', message => expect(read(message).checkbox).toBe(false));

  it.each([
    '- [x] TASK_COMPLETE\n\nThe summary is in notes.md.',
    'Marker:\n\n- [x] TASK_COMPLETE\n\nThank you.',
    '- [x] parser\n- [x] TASK_COMPLETE',
  ])('when text follows %j that takes nothing back, then it is ticked as a line that claims is', message =>
    expect(read(message).checkbox).toBe(true),
  );

  it('when it is taken back, then the next prompt can say why it does not count; an open box needs no such word', () => {
    expect(read('- [x] TASK_COMPLETE\nNo wait.').checkboxRefused).toContain('a later line takes it back');
    expect(read('- [x] docs\n- [ ] tests\n- [x] TASK_COMPLETE').checkboxRefused).toContain('other work');
    expect(read('- [x] TASK_COMPLETE\n<report>{"pending": ["x"]}</report>').checkboxRefused).toContain('pending');
    expect(read('[x] TASK_COMPLETE\n\n[ ] TASK_COMPLETE').checkboxRefused).toBeUndefined();
    expect(read('No wait.\n- [x] TASK_COMPLETE').checkboxRefused).toBeUndefined();
  });
});

describe('given a review line', () => {
  const complete = '<review-complete>ALL_ISSUES_RESOLVED</review-complete>';

  it('when it is the last line, then the review says how it ended', () => {
    expect(read(`Fine.\n${complete}\n`).review).toBe('complete');
    expect(read('<review-blocked>MANUAL_INTERVENTION_REQUIRED</review-blocked>').review).toBe('blocked');
    expect(read('<review-timeout>MAX_ITERATIONS_REACHED</review-timeout>').review).toBe('timeout');
  });

  it('when it is not last, fenced, altered or beside an escalation, then it says nothing', () => {
    const others = [
      `${complete}\nBye`,
      `\`\`\`\n${complete}\n\`\`\``,
      `Output ${complete}`,
      '<review-complete>OK</review-complete>',
    ];
    for (const message of [...others, `<escalate>\n</escalate>\n${complete}`])
      expect(read(message).review).toBeUndefined();
  });
});

describe('given an escalation (B59)', () => {
  it('when it has every field, then each is read', () => {
    const signals = read(
      'Stopped.\n<escalate type="deviation">\n<summary>Two schemas</summary>\n<context>\nLine one.\nLine two.\n</context>\n' +
        '<options>\n1. Keep\n   the old one\n2) Take the new one\n- Ask\nB) Both\n</options>\n<question>Which?</question>\n</escalate>',
    );
    expect(signals.escalate).toEqual({
      type: 'deviation',
      summary: 'Two schemas',
      context: 'Line one.\nLine two.',
      options: ['Keep the old one', 'Take the new one', 'Ask', 'B) Both'],
      question: 'Which?',
      attached: '',
    });
  });

  it('when fields are missing and the type is invented, then its first line is the summary and the rest is attached', () => {
    expect(read('<escalate type="hack">\nPlease help.\nWhich color?\n</escalate>').escalate).toEqual({
      type: 'unknown',
      summary: 'Please help.',
      context: '',
      options: [],
      question: '',
      attached: 'Which color?',
    });
  });

  it('when its fields have names of their own, then they are read as labels, and a type among them as the type', () => {
    const body = '<type>stuck</type>\n<what>Which color?</what>\n<because>the story names none</because>';
    expect(read(`<escalate>\n${body}\n</escalate>`).escalate).toMatchObject({
      type: 'stuck',
      summary: 'what: Which color?',
      attached: 'because: the story names none',
    });
  });

  it.each([["type='stuck'"], ['type = "stuck"'], ['type=stuck'], ['id="1"\n type="stuck"']])(
    'when the type is written as %s, then it is understood',
    attribute => expect(read(`<escalate ${attribute}>\n</escalate>`).escalate?.type).toBe('stuck'),
  );

  it('when it offers forty options of any length, then nine of 300 characters stay and the rest is attached', () => {
    const options = Array.from({ length: 40 }, (_, index) => `${index + 1}. option ${index + 1} ${'x'.repeat(400)}`);
    const escalate = read(`<escalate type="stuck"><options>\n${options.join('\n')}\n</options></escalate>`).escalate;
    expect(escalate?.options).toHaveLength(9);
    for (const option of escalate?.options ?? []) expect(option).toHaveLength(300);
    expect(escalate?.attached.startsWith('option 10 ')).toBe(true);
    expect(escalate?.attached.length).toBeLessThanOrEqual(2_000);
  });

  it('when its fields are too long, then each is cut to its bound and nothing splits a character', () => {
    const long = '😀'.repeat(3_000);
    const body = ['summary', 'context', 'question'].map(name => `<${name}>x${long}</${name}>`).join('\n');
    const escalate = read(`<escalate type="stuck">${body}</escalate>`).escalate;
    expect([escalate?.summary.length, escalate?.context.length, escalate?.question.length]).toEqual([199, 1_999, 499]);
    expect(Object.values(escalate ?? {}).every(value => typeof value !== 'string' || value.isWellFormed())).toBe(true);
  });

  it('when it is not closed, then it is the rest of the message, to a bound', () => {
    const signals = read(
      `<escalate type="stuck">\n<summary>No key\n<question>Where?\n${'x'.repeat(9_000)}\nTask US-001 complete`,
    );
    expect(signals.done).toBe(false);
    expect(signals.escalate).toMatchObject({ type: 'stuck', summary: 'No key' });
    expect(signals.escalate?.question.startsWith('Where?')).toBe(true);
  });

  it('when there are two, then the first asks and the second is attached', () => {
    const first = '<escalate type="stuck">\n<summary>one</summary>\n</escalate>';
    const escalate = read(`${first}\ntext\n<escalate type="deviation">\n<summary>two</summary>\n</escalate>`).escalate;
    expect(escalate).toMatchObject({ type: 'stuck', summary: 'one' });
    expect(escalate?.attached).toContain('<summary>two</summary>');
  });

  it('when it carries terminal sequences, then they are gone', () => {
    const escalate = read(
      '<escalate type="stuck"><summary>\x1b[2Jred\x1b]0;title\x07 one</summary></escalate>',
    ).escalate;
    expect(escalate?.summary).toBe('red one');
  });

  it.each([
    'Use `<escalate type="stuck">` then.',
    'Use <escalate type="stuck"> then.',
    '<escalated>\n</escalated>',
    '<escalate> would be wrong here.',
    '> <escalate type="stuck">',
    '<!-- <escalate type="stuck"></escalate> -->',
  ])('when it is only mentioned (%j), then nobody is asked', message => expect(read(message).escalate).toBeUndefined());
});

describe('given an escalation in code', () => {
  it.each([
    '```\n<escalate type="stuck">\n<summary>No key</summary>\n</escalate>\n```',
    '    <escalate type="stuck">\n    <summary>No key</summary>\n    </escalate>',
    '\t<escalate type="stuck">\n\t<summary>No key</summary>\n\t</escalate>',
  ])('when it stands in a fence or indented (%j), then a person is asked: a false question is cheap', message => {
    expect(read(`Fine.\n\n${message}`).escalate).toMatchObject({ type: 'stuck', summary: 'No key' });
  });

  it('when it is the form of a prompt, said again, then nobody is asked', () => {
    for (const echo of [escalateForm, `    ${escalateForm}`]) expect(read(echo).escalate).toBeUndefined();
  });
});

describe('given a handoff request', () => {
  it('when it begins a line, then its reason is read, to 500 characters', () => {
    expect(read('<handoff>context is full</handoff>').handoff).toBe('context is full');
    expect(read(`Text\n<handoff>\n${'x'.repeat(900)}\n</handoff>`).handoff).toHaveLength(500);
  });

  it.each([
    '<handoff>why</handoff>',
    '<handoff></handoff>',
    handoffForm,
    'Use <handoff>x</handoff>',
    '<handoff>x',
    '```\n<handoff>x</handoff>\n```',
    '<handoff>reason</handoff>',
  ])('when it is %j, then nothing is asked for', message => expect(read(message).handoff).toBeUndefined());
});

describe('given a report', () => {
  const report = (value: unknown) => read(`<report>\n${JSON.stringify(value, null, 2)}\n</report>`).report;
  const empty = { completed: [], pending: [], blocked: [], decisions: [] };

  it('when it is whole, then every part is read', () => {
    const value = {
      phase: 'testing',
      completed: ['parser'],
      pending: ['docs'],
      blocked: [{ item: 'deploy', reason: 'no key' }, 'review'],
      decisions: ['use SQLite'],
    };
    expect(report(value)).toEqual({ ...value, blocked: [value.blocked[0], { item: 'review', reason: '' }] });
  });

  it('when parts have the wrong shape, then those are dropped, but nothing that is left to do', () => {
    const blocked = [null, {}, { item: 7 }, { item: 'a', reason: 7 }];
    expect(
      report({ phase: 'dancing', completed: 'all', decisions: [1], pending: [1, null, ' ', 'x'], blocked }),
    ).toEqual({
      ...empty,
      pending: ['1', 'x'],
      blocked: [
        { item: '7', reason: '' },
        { item: 'a', reason: '' },
      ],
    });
    for (const none of [null, [], {}, '', false, 0]) expect(report({ pending: none, blocked: none })).toEqual(empty);
    expect(report({ pending: 'b, c' })).toEqual({ ...empty, pending: ['b, c'] });
    expect(report({ pending: [{ item: 'b' }, { name: 'c' }] })).toEqual({ ...empty, pending: ['b', '{"name":"c"}'] });
    expect(report({})).toEqual(empty);
  });

  it('when it is no object, no JSON, unclosed or fenced, then there is none', () => {
    for (const value of [[], null, 'text', 7]) expect(report(value)).toBeUndefined();
    for (const message of [
      '<report>{"completed": [</report>',
      '<report>{}',
      '```\n<report>{}</report>\n```',
      'a <report>{}</report>',
    ]) {
      expect(read(message).report).toBeUndefined();
    }
  });

  it('when its JSON stands in a fence inside the tags, then it is read', () => {
    expect(read('<report>\n```json\n{"pending":["a"]}\n```\n</report>').report).toEqual({ ...empty, pending: ['a'] });
  });

  it('when there are several, then the last readable one wins', () => {
    const message = '<report>{"pending":["a"]}</report>\n<report>{"pending":["b"]}</report>\n<report>{bad}</report>';
    expect(read(message).report?.pending).toEqual(['b']);
    expect(read('<report>{"pending":["a\n<report>{"pending":["b"]}</report>').report?.pending).toEqual(['b']);
  });

  it('when it is huge, then 50 items of 300 characters stay, 16 kB in all', () => {
    const items = Array.from({ length: 80 }, () => 'x'.repeat(400));
    const short = Array.from({ length: 80 }, () => 'x');
    expect(report({ completed: short })?.completed).toHaveLength(50);
    const read = report({ completed: items, decisions: items });
    expect(read?.completed[0]).toHaveLength(300);
    expect([...(read?.completed ?? []), ...(read?.decisions ?? [])].join('').length).toBe(16_384);
  });
});

describe('given a near miss (B96)', () => {
  const dialect = { task: 'US-001', promise: 'LOOP_COMPLETE', hasBox: true };
  it.each([
    ['doneRefused', 'Task US-001 completed successfully', 'Task US-001 complete'],
    ['doneRefused', 'Task undefined complete', 'Task US-001 complete'],
    ['doneRefused', '`Task US-001 complete`', 'Task US-001 complete'],
    ['doneRefused', '- Task US-001 complete\n- docs', 'other work is named'],
    ['doneRefused', 'What is left of the work:\nTask US-001 complete', 'ends in a colon'],
    ['doneRefused', 'Task US-001 complete\nTask US-001 is not complete', 'a later line takes it back'],
    ['promiseRefused', 'promise: LOOP_COMPLETE', '<promise>LOOP_COMPLETE</promise>'],
    ['promiseRefused', 'What I write in the end:\nLOOP_COMPLETE', 'ends in a colon'],
    ['checkboxRefused', '- [x] Task complete', '- [x] TASK_COMPLETE'],
    ['checkboxRefused', 'What I tick in the end:\n- [x] TASK_COMPLETE', 'ends in a colon'],
    ['reportRefused', '```\n<report>{}</report>\n```', 'report'],
    ['reportRefused', 'This is what I report:\n<report>{}</report>', 'ends in a colon'],
    ['escalateRefused', '<escalation type="stuck">', escalateForm],
    ['escalateRefused', '<escalate type="stuck"/>', escalateForm],
    ['escalateRefused', '<escallate>help</escallate>', escalateForm],
    ['promiseRefused', '<promis>LOOP_COMPLETE</promis>', '<promise>LOOP_COMPLETE</promise>'],
    ['doneRefused', 'Tehtävä US-001 on valmis.', 'Task US-001 complete'],
    ['doneRefused', 'US-001 ya kumaliza', 'Task US-001 complete'],
    ['checkboxRefused', 'I added `- [x] TASK_COMPLETE` to PROMPT.md.', '- [x] TASK_COMPLETE'],
    ['handoffRefused', '<handoff></handoff>', handoffForm],
    ['handoffRefused', '<handoff>why</handoff>', handoffForm],
  ] as const)('%s: when it is %j, then the sentence says: %s', (key, message, words) => {
    const signals = readSignals(message, dialect);
    expect(signals).toMatchObject({ done: false, promise: false, checkbox: false });
    expect([signals.report, signals.escalate, signals.handoff]).toEqual([undefined, undefined, undefined]);
    expect(signals[key]).toContain(words);
  });

  it('when it is made to keep a pattern busy, then it is read in one pass all the same', () => {
    for (const mark of ['<', '{', 'promise', 'Task '])
      expect(readSignals(`${mark}${' '.repeat(19_900)}complete`, dialect)).toMatchObject({
        done: false,
        promise: false,
      });
  });

  it('when all is said in the right words, or nothing is, then nothing is explained', () => {
    for (const message of ['Task US-001 complete\n\n<promise>LOOP_COMPLETE</promise>', 'I fixed two of four tests.']) {
      const { doneRefused, promiseRefused, checkboxRefused, reportRefused } = readSignals(message, dialect);
      expect([doneRefused, promiseRefused, checkboxRefused, reportRefused]).toEqual(Array(4).fill(undefined));
    }
  });
});

describe('given any text at all', () => {
  const fragments = fc.constantFrom(
    ...[
      'Task US-001 complete',
      'Task US-001 not done',
      'Task US-2 done',
      '<promise>DONE</promise>',
      'DONE',
      '<promise>',
    ],
    ...[
      '<escalate type="stuck">',
      '</escalate>',
      '<summary>',
      '<report>',
      '</report>',
      '{}',
      '<handoff>',
      '</handoff>',
    ],
    ...[
      '```',
      '~~~~',
      '> ',
      '    ',
      '- ',
      '**',
      '<!--',
      '-->',
      '<think>',
      '</think>',
      '\n',
      '\n',
      '\n',
      '\r',
      '\r\n',
      ' ',
      ':',
    ],
  );
  const hostile = fc
    .array(fc.oneof({ weight: 5, arbitrary: fragments }, fc.string({ unit: 'binary', maxLength: 8 })), {
      maxLength: 40,
    })
    .map(parts => parts.join(''));

  it('when it is read, then nothing is thrown and every bound holds', () => {
    const anyDialect = fc.record({ task: fc.string({ unit: 'binary' }), promise: fc.string({ unit: 'binary' }) });
    fc.assert(
      fc.property(hostile, anyDialect, (message, someDialect) => {
        const signals = readSignals(message, someDialect);
        expect(signals.doneElsewhere.length).toBeLessThanOrEqual(9);
        expect(signals.escalate?.options.length ?? 0).toBeLessThanOrEqual(9);
      }),
      { numRuns: 500 },
    );
  });

  it('when it is done, then the claim is a line of it; when it escalates, then it neither is done nor promises', () => {
    fc.assert(
      fc.property(hostile, message => {
        const signals = read(message);
        const lines = message.split(/\r\n|\r|\n/).map(line => line.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, ''));
        if (signals.done) expect(lines).toContain('Task US-001 complete');
        if (signals.promise)
          expect(['DONE', '<promise>DONE</promise>']).toContain(
            message
              .trimEnd()
              .split(/[\r\n]/)
              .at(-1)
              ?.trim(),
          );
        if (signals.escalate) expect([signals.done, signals.promise, signals.checkbox]).toEqual([false, false, false]);
      }),
      { numRuns: 800 },
    );
  });

  it('when blank lines are appended or line ends differ, then it says the same', () => {
    fc.assert(
      fc.property(hostile, message => {
        expect(read(`${message}\n\n  \n`)).toEqual(read(message));
        const unix = message.replace(/\r\n?/g, '\n');
        expect(read(unix.replaceAll('\n', '\r\n'))).toEqual(read(unix));
      }),
      { numRuns: 500 },
    );
  });
});

it('an item of what is still to do is no claim, however short its heading is', () => {
  for (const heading of ['Still to do:', 'To do:', 'Remaining:', 'Open:'])
    expect(
      readSignals(`I have looked.\n${heading}\n- Task US-001 complete`, { task: 'US-001', promise: 'P' }).done,
    ).toBe(false);
});

describe('given a line above the claim', () => {
  it.each(['I still cannot honestly say that', 'For now I will only write'])(
    'when %j leads to it without a stop, then it counts below a blank line alone',
    above => {
      expect(read(`${above}\nTask US-001 complete`).done).toBe(false);
      expect(read(`${above}\n\nTask US-001 complete`).done).toBe(true);
    },
  );

  it('when it is output that was cut anywhere, then the claim counts', () => {
    for (const cut of ['a line of o', 'a line of out', '2 passing, 0 failing y'])
      expect(read(`a line of output\n${cut}\nTask US-001 complete`).done).toBe(true);
  });
});

describe('given one thing that an agent says', () => {
  it.each([
    ['Task US-002 complete', []],
    ['All done.\n\n<promise>DONE</promise>', []],
    ['All done.\n\n<promise>DNE</promise>', ['promiseRefused']],
    ['- [x] TASK_COMPLETE\nNo wait, the tests fail.', ['checkboxRefused']],
    ['Soon LOOP_COMPLETE.', []],
    ['All done.', ['doneRefused']],
  ])('when it is %j, then no more than %j explains it', (message, explained) => {
    const hasBox = message.includes('_');
    const signals = readSignals(message, { task: 'US-001', promise: hasBox ? 'LOOP_COMPLETE' : 'DONE', hasBox });
    expect(Object.keys(signals).filter(key => key.endsWith('Refused'))).toEqual(explained);
  });
});
