// A judge's answer is its last word: what comes after it could take it back.
import { describe, expect, it } from 'vitest';
import { verdictOf } from '../../src/messages/verdict.ts';

const answer = JSON.stringify({ criteria: [{ criterion: 1, verdict: 'pass', evidence: 'seen' }], summary: 'fine' });
const block = `\`\`\`json\n${answer}\n\`\`\``;

describe('given a message with one answer in it', () => {
  it.each([
    ['alone', answer],
    ['in a block', block],
    ['in a block with blank lines after it', `${block}\n\n  \n`],
    ['after prose', `I read the diff.\n\n${block}`],
    ['after prose and a block of code', `I ran this:\n\`\`\`sh\nnpm test\n\`\`\`\n\n${block}\n`],
    ['bare, after prose', `Here it is: ${answer}\n`],
  ])('when it stands %s, then it is the verdict', (_, message) => {
    expect(verdictOf(message, 1)).toMatchObject({ ok: true, criteria: [{ passed: true }] });
  });

  it.each([
    ['prose follows its block', `${block}\n\nOn second thought, it fails.`],
    ['prose follows it bare', `${answer}\nOn second thought, it fails.`],
    ['another block follows', `${block}\n\`\`\`\nverdict: fail\n\`\`\`\n`],
  ])('when %s, then there is no verdict', (_, message) => {
    expect(verdictOf(message, 1)).toEqual({ ok: false, problem: 'it wrote something after its answer' });
  });
});
