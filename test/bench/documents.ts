// Shows that documents of 10,000 tasks are read and marked in a small multiple of what just looking at their bytes costs.
import { parseDocument } from 'yaml';
import type { Format } from '../../src/documents/document.ts';
import { checklist } from '../../src/documents/formats/checklist.ts';
import { prd } from '../../src/documents/formats/prd.ts';
import { prompt } from '../../src/documents/formats/prompt.ts';
import { ralphLoop } from '../../src/documents/formats/ralph-loop.ts';
import { sectionedPlan } from '../../src/documents/formats/sectioned-plan.ts';
import { projectTasks } from '../../src/documents/formats/tasks.ts';
import { yamlTasks } from '../../src/documents/formats/yaml-tasks.ts';
import { plan } from '../../src/modes/plan/document/plan.ts';
import type { BenchRow } from './row.ts';

const tasks = 10_000;
const words = 'Let the program say what it found, where it found it, and what to do next about it.';

interface DocumentCase {
  readonly name: string;
  readonly format: Format;
  readonly text: (count: number) => string;
  /** The id of the task in row n. */
  readonly id: (row: number) => string;
  /** What the bytes are measured against. */
  readonly floor: 'JSON.parse' | 'a plain read';
  readonly parseMax: number;
  readonly markMax: number;
}

const rows = <Item>(count: number, row: (n: number) => Item): Item[] => Array.from({ length: count }, (_, n) => row(n));
const before = (n: number): string[] => (n === 0 ? [] : [`T${n - 1}`]);

const cases: readonly DocumentCase[] = [
  {
    name: 'PRD.json',
    format: prd,
    text: count =>
      JSON.stringify(
        {
          project: 'bench',
          userStories: rows(count, n => ({
            id: `T${n}`,
            title: `Task ${n}`,
            description: words,
            criteria: [words],
            priority: count - n,
            depends_on: before(n),
            passes: false,
          })),
        },
        null,
        2,
      ),
    id: n => `T${n}`,
    floor: 'JSON.parse',
    parseMax: 20,
    markMax: 8,
  },
  {
    name: 'tasks.json',
    format: projectTasks,
    text: count =>
      JSON.stringify(
        {
          project_name: 'bench',
          version: '1.0',
          tasks: rows(count, n => ({
            id: `T${n}`,
            title: `Task ${n}`,
            description: words,
            status: 'pending',
            dependencies: before(n),
            attempts: 0,
            max_attempts: 3,
            blocked: false,
          })),
        },
        null,
        2,
      ),
    id: n => `T${n}`,
    floor: 'JSON.parse',
    parseMax: 20,
    markMax: 8,
  },
  {
    name: 'checklist',
    format: checklist,
    text: count => `# Bench\n\n${rows(count, n => `- [ ] T${n}: do ${n}\n  ${words}\n  - [ ] ${words}\n`).join('')}`,
    id: n => `T${n}`,
    floor: 'a plain read',
    parseMax: 25,
    markMax: 20,
  },
  {
    name: 'sectioned plan',
    format: sectionedPlan,
    text: count => `# Bench\n\n${rows(count, n => `### Task ${n}: do ${n}\n${words}\n- [ ] ${words}\n\n`).join('')}`,
    id: n => `task-${n}`,
    floor: 'a plain read',
    parseMax: 25,
    markMax: 20,
  },
  {
    name: 'Plan.md',
    format: plan,
    text: count =>
      `---\nplan_id: bench\nobjective: Bench\ntotal_steps: ${count}\ncompleted_steps: 0\n---\n\n${rows(
        count,
        n =>
          `- [ ] **Step ${n + 1}:** ${words} (action_type: agent)\n  - Dependencies: ${n === 0 ? 'none' : `step_${n}`}\n  - Message: ${words}\n\n`,
      ).join('')}`,
    id: n => `step_${n + 1}`,
    floor: 'a plain read',
    parseMax: 45,
    markMax: 25,
  },
  {
    name: 'YAML list',
    format: yamlTasks,
    text: count =>
      `tasks:\n${rows(count, n => `  - id: T${n}\n    title: Task ${n}\n    description: ${words}\n    depends_on: [${before(n).join('')}]\n    completed: false # open\n`).join('')}`,
    id: n => `T${n}`,
    floor: 'a plain read',
    parseMax: 450,
    markMax: 450,
  },
  {
    name: 'PROMPT.md of 10,000 lines',
    format: prompt,
    text: count => `# Bench\n${rows(count, n => `${n} ${words}`).join('\n')}\n- [ ] TASK_COMPLETE\n`,
    id: () => 'prompt',
    floor: 'a plain read',
    parseMax: 25,
    markMax: 20,
  },
  {
    name: 'ralph-loop.local.md of 10,000 lines',
    format: ralphLoop,
    text: count => `---\nactive: true\niteration: 1\n---\n${rows(count, n => `${n} ${words}`).join('\n')}\n`,
    id: () => 'prompt',
    floor: 'a plain read',
    parseMax: 10,
    markMax: 5,
  },
];

/** Decoding the bytes and looking at each character once: what reads a text cannot do less. */
function plainRead(bytes: Buffer): number {
  const text = bytes.toString('utf8');
  let lines = 0;
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) === 0x0a) lines += 1;
  return lines;
}

/** The clock of a thread may tick coarsely: a sample is as many runs as take this long. */
const sampleMsMin = 60;

function cpuMs(work: () => unknown, times: number): number {
  const begin = process.threadCpuUsage();
  for (let time = 0; time < times; time += 1) work();
  const { user, system } = process.threadCpuUsage(begin);
  return (user + system) / 1_000;
}

/** The best of several samples, in time that this thread had: other work on the machine does not count. */
function bestCpuMs(work: () => unknown, samples: number): number {
  let times = 1;
  while (cpuMs(work, times) < sampleMsMin) times *= 2;
  let best = Number.POSITIVE_INFINITY;
  for (let sample = 0; sample < samples; sample += 1) best = Math.min(best, cpuMs(work, times) / times);
  return best;
}

function parsed(format: Format, text: string): number {
  const result = format.parse(text);
  if (!result.ok) throw new Error(`${format.name}: ${result.problems[0]?.message} (line ${result.problems[0]?.line})`);
  return result.document.tasks.length;
}

/** Nearly all of it is the package that reads the YAML. */
function besideYaml(text: string, parseMs: number, samples: number): BenchRow {
  const packageMs = bestCpuMs(() => parseDocument(text).toJS(), samples);
  return {
    name: 'YAML list of 10,000 tasks, parse / the yaml package alone',
    ratio: parseMs / packageMs,
    limit: 2,
    detail: `${parseMs.toFixed(0)} ms, the package ${packageMs.toFixed(0)} ms`,
  };
}

function measure(one: DocumentCase, samples: number): readonly BenchRow[] {
  const { name, format, floor } = one;
  const text = one.text(tasks);
  const bytes = Buffer.from(text, 'utf8');
  const marks = [{ id: one.id(tasks - 1), done: true, skipped: false }];
  if (format.mark(text, marks) === text) throw new Error(`${name}: the mark changed nothing`);
  const floorMs = bestCpuMs(
    () => (floor === 'JSON.parse' ? JSON.parse(bytes.toString('utf8')) : plainRead(bytes)),
    samples,
  );
  const parseMs = bestCpuMs(() => parsed(format, bytes.toString('utf8')), samples);
  const markMs = bestCpuMs(() => format.mark(text, marks), samples);
  const half = one.text(tasks / 2);
  const halfMs = bestCpuMs(() => parsed(format, half), samples);
  const size = `${(bytes.length / 1024 / 1024).toFixed(1)} MB`;
  const detail = (ms: number): string => `${size}: ${ms.toFixed(1)} ms, floor ${floorMs.toFixed(2)} ms`;
  const what = name.includes('10,000') ? name : `${name} of 10,000 tasks`;
  return [
    { name: `${what}, parse / ${floor}`, ratio: parseMs / floorMs, limit: one.parseMax, detail: detail(parseMs) },
    { name: `${what}, mark one / ${floor}`, ratio: markMs / floorMs, limit: one.markMax, detail: detail(markMs) },
    {
      name: `${what}, parse / parse of half of it (2 is linear)`,
      ratio: parseMs / halfMs,
      limit: 3.5,
      detail: `${parseMs.toFixed(1)} ms, half ${halfMs.toFixed(1)} ms`,
    },
    ...(format === yamlTasks ? [besideYaml(text, parseMs, samples)] : []),
  ];
}

export async function benchDocuments(quick: boolean): Promise<readonly BenchRow[]> {
  return cases.flatMap(one => measure(one, quick ? 2 : 4));
}
