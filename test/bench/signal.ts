// Measures readSignals over a megabyte of hostile text against the least any reader must do: plain indexOf scans.
import { readSignals } from '../../src/messages/claims.ts';
import { type BenchRow, bestMs } from './row.ts';

const needles = ['Task ', '<promise>', '</promise>', '<escalate', '</escalate>', '```', '<report>', '\n', '\r'];
const limit = 20; // issue 2
const size = 1_000_000;
const runs = 9;

function filled(unit: string): string {
  return Buffer.from(unit.repeat(Math.ceil(size / unit.length)).slice(0, size), 'utf16le').toString('utf16le');
}

const hostileTexts: readonly { readonly name: string; readonly text: string }[] = [
  { name: 'one line of letters', text: filled('a') },
  { name: 'blank lines', text: filled('\n') },
  { name: 'carriage returns between letters', text: filled('a\r') },
  { name: 'short lines', text: filled('a\n') },
  { name: 'list items', text: filled('- a\n') },
  {
    name: 'ordinary prose',
    text: filled('The quick brown fox runs all the tests, and Task US-001 is nearly there.\n'),
  },
  { name: 'claims that are questions', text: filled('Task US-001 complete?\n') },
  { name: 'claims of the task', text: filled('- **Task `US-001` complete.**\n') },
  { name: 'claims of other tasks', text: filled('Task US-002 done\n') },
  { name: 'claims that deny themselves', text: filled('Task US-001 is not yet quite complete\n') },
  { name: 'claims and denials in turn', text: filled('Task US-001 done\nTask US-001 not done\n') },
  { name: 'claims that end twice', text: filled('Task US-001 complete done\n') },
  { name: 'claims in uneven bold', text: filled('**Task US-001 done*\n') },
  { name: 'announced claims', text: filled('When all tests pass, say:\nTask US-001 complete\n') },
  { name: 'stars round a claim', text: filled(`${'*'.repeat(20)}Task ${'*'.repeat(250)}\n`) },
  {
    name: '16,000 unclosed promises, then letters',
    text: `${'<promise>\n'.repeat(16_000)}${filled('a')}`.slice(0, size),
  },
  { name: 'unclosed promises in one line', text: filled('<promise>') },
  { name: 'nested promises', text: `${'<promise>'.repeat(52_000)}DONE${'</promise>'.repeat(52_000)}` },
  { name: 'unclosed escalations', text: filled('<escalate type="stuck">\n') },
  { name: 'mentioned escalations', text: filled('<escalate> is a tag\n') },
  { name: 'closed escalations', text: filled('<escalate>\n</escalate>\n') },
  { name: 'unclosed reports', text: filled('<report>\n') },
  { name: 'empty reports', text: filled('<report></report>\n') },
  { name: 'broken reports', text: filled('<report>{"a":[</report>\n') },
  { name: 'handoffs', text: filled('<handoff></handoff>\n') },
  { name: 'fences', text: filled('```\n') },
  { name: 'fences that do not open', text: filled('``` `\n') },
  { name: 'unclosed comments', text: filled('x <!-- \n') },
  { name: 'comments in one line', text: filled('x <!-- --> ') },
  { name: 'comments in code', text: filled('`<!-- ` ') },
  { name: 'thoughts', text: filled('<think>\n</think>\n') },
  { name: 'emoji', text: filled('✅ \u{1f600}\n') },
];

function leastWork(text: string): number {
  let count = 0;
  for (const needle of needles) {
    for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + needle.length)) count += 1;
  }
  return count;
}

export async function benchSignals(): Promise<readonly BenchRow[]> {
  const dialect = { task: 'US-001', promise: 'DONE' };
  return hostileTexts.map(({ name, text }) => {
    const floorMs = bestMs(() => leastWork(text), runs);
    const readMs = bestMs(() => readSignals(text, dialect), runs);
    const detail = `${readMs.toFixed(2)} ms, indexOf scans ${floorMs.toFixed(2)} ms, ${(text.length / 1e6).toFixed(2)} M characters`;
    return { name: `signals: ${name}`, ratio: readMs / floorMs, limit, detail };
  });
}
