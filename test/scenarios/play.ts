// Plays a scenario: a backlog, what the scripted agent does at each attempt, what a person answers; gives the timeline.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Script, scriptedAgent } from '../../src/agents/scripted.ts';
import { commandCheck } from '../../src/checks/command.ts';
import type { Answer, Event } from '../../src/core/event.ts';
import type { Limits } from '../../src/core/settings.ts';
import { fileSource } from '../../src/documents/file.ts';
import { systemClock } from '../../src/engine/clock.ts';
import { runLoop } from '../../src/engine/run.ts';
import { memoryLedger } from '../../src/ledger/memory.ts';
import { fileSpool } from '../../src/ledger/spool.ts';
import { prdMode } from '../../src/modes/prd/mode.ts';
import { defaultSettings } from '../../src/modes/registry.ts';

export interface Scenario {
  readonly says: string;
  readonly stories: readonly { readonly id: string; readonly depends_on?: readonly string[] }[];
  readonly check?: string;
  readonly limits?: Partial<Limits>;
  readonly turns: Script['turns'];
  /** By question: E1, E2, ... */
  readonly answers?: Readonly<Record<string, Answer>>;
  readonly timeline: readonly string[];
  /** Each must stand in the prompt of that iteration. */
  readonly prompts?: Readonly<Record<string, readonly string[]>>;
  readonly passes: readonly boolean[];
}

/** The events that tell the story, as short lines. */
function line(event: Event): string | undefined {
  switch (event.type) {
    case 'iteration.started':
      return `iteration ${event.iteration} ${event.task}`;
    case 'iteration.ended':
      return event.outcome === 'succeeded' ? undefined : `${event.outcome} ${event.iteration}`;
    case 'signal.read':
      return event.accepted ? undefined : `refused ${event.signal}`;
    case 'check.ended':
      return event.passed ? undefined : `check failed ${event.task}`;
    case 'task.closed':
      return `${event.verified ? 'proven' : 'unverified'} ${event.task}`;
    case 'task.skipped':
      return `skipped ${event.task}`;
    case 'task.blocked':
      return `blocked ${event.task}`;
    case 'escalation.raised':
      return `asked ${event.escalation.id} ${event.escalation.kind}`;
    case 'escalation.answered':
      return `answered ${event.id} ${event.answer.kind}`;
    case 'loop.ended':
      return `ended ${event.reason}`;
    default:
      return undefined;
  }
}

export interface Played {
  readonly timeline: readonly string[];
  readonly passes: readonly boolean[];
  readonly prompt: (iteration: string) => string;
}

export async function play(scenario: Scenario): Promise<Played> {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-scenario-'));
  const path = join(folder, 'PRD.json');
  const story = (one: { readonly id: string }) => ({
    title: one.id,
    description: 'do',
    criteria: ['works'],
    passes: false,
    ...one,
  });
  writeFileSync(
    path,
    JSON.stringify({ project: 'scenario', description: 'goal', userStories: scenario.stories.map(story) }, null, 2),
  );
  const timeline: string[] = [];
  const prompts = new Map<string, string>();
  let ids = 0;
  const clock = systemClock(() => `id-${++ids}`);
  const base = defaultSettings('prd');
  const environment = { PATH: process.env['PATH'] ?? '' };
  const checks = scenario.check === undefined ? [] : [commandCheck({ command: scenario.check, environment })];
  const agent = scriptedAgent({ script: { turns: scenario.turns } });
  const settings = {
    ...base,
    performers: [agent.name],
    checks: checks.map(check => check.name),
    backoffBaseMs: 1,
    backoffMsMax: 2,
    limits: { ...base.limits, ...scenario.limits },
  };
  const ask = scenario.answers;
  try {
    await runLoop(
      {
        ledger: memoryLedger(),
        clock,
        source: fileSource({
          path,
          format: prdMode.formats[0]!,
          copyPath: join(folder, 'copy'),
          instructions: { path: join(folder, 'PROMPT.md'), text: prdMode.instructions?.text ?? '', isWritten: true },
        }),
        performers: { [agent.name]: agent },
        checks,
        spool: fileSpool(folder, text => text),
        notifiers: [
          {
            tell(event, state) {
              const said = line(event);
              if (said !== undefined) timeline.push(said);
              const live = state.live[0];
              if (event.type === 'iteration.started' && live)
                prompts.set(String(event.iteration), prdMode.prompt(state, live, '').text);
            },
          },
        ],
        redact: text => text,
        prompt: prdMode.prompt,
        onEscalation: ask === undefined ? 'exit' : 'wait',
        ...(ask === undefined ? {} : { ask: async escalation => ask[escalation.id] }),
        holder: { id: 'scenario', pid: process.pid, startTime: '', host: '', boot: '', version: '' },
        by: 'person',
        environment: {},
      },
      'scenario',
      {
        interrupt: new AbortController().signal,
        first: [
          {
            type: 'start',
            loop: 'scenario',
            name: 'scenario',
            goal: 'goal',
            document: path,
            directory: folder,
            projectId: '',
            taskId: '',
            settings,
            by: 'person',
          },
        ],
      },
    );
    const document = JSON.parse(readFileSync(path, 'utf8')) as { userStories: { passes: boolean }[] };
    return {
      timeline,
      passes: document.userStories.map(one => one.passes),
      prompt: iteration => prompts.get(iteration) ?? '',
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
