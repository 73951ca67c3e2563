// One event of every type, so that a fold, a sentence or a view that forgets one is found.
import type { Event, EventOf, EventType } from '../../src/core/event.ts';
import { noUsage } from '../../src/core/state.ts';
import { settings, spec, t0 } from './given.ts';

const iteration = { at: t0, iteration: 1, task: 'A' };
const because = 'the reason';
const by = 'ada';

/** Total: a new event type without a row does not compile. */
const byType: { readonly [Type in EventType]: EventOf<Type> } = {
  'loop.started': {
    type: 'loop.started',
    at: t0,
    loop: 'loop-0001',
    name: 'shop',
    goal: 'a shop',
    document: 'PRD.json',
    directory: '.',
    projectId: 'PILOT',
    taskId: 'H.8',
    settings: settings(),
    by,
  },
  'tasks.loaded': { type: 'tasks.loaded', at: t0, tasks: [spec('A')], hash: 'h1', because },
  'tasks.added': { type: 'tasks.added', at: t0, tasks: [spec('N')], because },
  'tasks.saved': { type: 'tasks.saved', at: t0, tasks: ['A'], hash: 'h2', because },
  'task.closed': { type: 'task.closed', ...iteration, verified: true, because },
  'task.reopened': { type: 'task.reopened', at: t0, task: 'A', because },
  'task.skipped': { type: 'task.skipped', at: t0, task: 'A', by, because },
  'task.blocked': { type: 'task.blocked', at: t0, task: 'A', because },
  'iteration.started': {
    type: 'iteration.started',
    ...iteration,
    performer: 'agent',
    holder: 'h',
    attempt: 1,
    because,
  },
  'iteration.spawned': { type: 'iteration.spawned', at: t0, iteration: 1, pid: 42, startTime: '7', host: 'here' },
  'iteration.heard': { type: 'iteration.heard', at: t0, iteration: 1, quietMs: 1_000 },
  'iteration.nudged': { type: 'iteration.nudged', at: t0, iteration: 1, level: 'nudge', because },
  'iteration.ended': {
    type: 'iteration.ended',
    ...iteration,
    performer: 'agent',
    outcome: 'succeeded',
    durationMs: 1_000,
    because,
    excerpt: 'the end',
    echo: 'the end',
  },
  'usage.recorded': {
    type: 'usage.recorded',
    ...iteration,
    performer: 'agent',
    usage: { ...noUsage, costUsdMicros: 5 },
  },
  'signal.read': { type: 'signal.read', ...iteration, signal: 'done', text: 'A', accepted: true, because },
  'check.ended': {
    type: 'check.ended',
    ...iteration,
    check: 'npm test',
    passed: false,
    remaining: 0,
    detail: 'no',
    durationMs: 5,
    because,
  },
  'merge.ended': { type: 'merge.ended', ...iteration, merged: false, detail: 'conflict', because },
  'checkpoint.made': { type: 'checkpoint.made', at: t0, checkpoint: 'cp-1', iteration: 1, ref: 'refs/x', because },
  'checkpoint.restored': { type: 'checkpoint.restored', at: t0, checkpoint: 'cp-1', ref: 'refs/x', because },
  'escalation.raised': {
    type: 'escalation.raised',
    at: t0,
    escalation: {
      id: 'E1',
      kind: 'stuck',
      task: 'A',
      iteration: 1,
      summary: 'no way on',
      context: '',
      options: ['left'],
      question: '?',
      raisedAt: t0,
    },
    because,
  },
  'escalation.answered': { type: 'escalation.answered', at: t0, id: 'E1', answer: { kind: 'retry' }, by, because },
  'approval.given': { type: 'approval.given', at: t0, subject: 'plan', hash: 'h', by, because },
  'guidance.given': { type: 'guidance.given', at: t0, text: 'mind the gap', by, because },
  'guidance.reached': { type: 'guidance.reached', at: t0, id: 'G1', iteration: 1, delivered: true, because },
  'limits.changed': { type: 'limits.changed', at: t0, limits: { iterationsMax: 9 }, by, because },
  'performer.tripped': { type: 'performer.tripped', at: t0, performer: 'agent', until: t0 + 1, because },
  'performer.recovered': { type: 'performer.recovered', at: t0, performer: 'agent', because },
  'budget.alerted': { type: 'budget.alerted', at: t0, fraction: 0.8, because },
  'stop.asked': { type: 'stop.asked', at: t0, by, because },
  'loop.paused': { type: 'loop.paused', at: t0, by, now: false, because },
  'loop.resumed': { type: 'loop.resumed', at: t0, by, because },
  'loop.ended': { type: 'loop.ended', at: t0, reason: 'goal_achieved', because },
};

export const everyEvent: readonly Event[] = Object.values(byType);
