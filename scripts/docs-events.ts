// One example of every event, with what it means: the event list shows each as the code itself would say it.
import type { EventOf, EventType } from '../src/core/event.ts';
import { noUsage } from '../src/core/state.ts';
import { defaultSettings } from '../src/modes/registry.ts';

interface Shown<Type extends EventType> {
  readonly when: string;
  readonly example: EventOf<Type>;
}

const at = Date.UTC(2026, 0, 31, 12);
const iteration = 3;
const task = 'US-002';
const performer = 'command';
const by = 'ada';
const addedTask = {
  id: 'US-005',
  title: 'Pay by card',
  description: '',
  criteria: [],
  dependsOn: [],
  done: false,
  skipped: false,
};

/** Total by its type: an event without a row here does not compile. */
export const shownEvents: { readonly [Type in EventType]: Shown<Type> } = {
  'loop.started': {
    when: 'A loop begins. It carries all its settings.',
    example: {
      type: 'loop.started',
      at,
      loop: '0199…',
      name: 'shop',
      goal: 'A small shop',
      document: '/home/ada/shop/PRD.json',
      directory: '/home/ada/shop',
      projectId: 'shop',
      taskId: '',
      settings: defaultSettings('prd'),
      by,
    },
  },
  'tasks.loaded': {
    when: 'The document was read for the first time, its texts changed, or tasks are gone from it (`gone`) or shown again (`back`).',
    example: { type: 'tasks.loaded', at, tasks: [], hash: '…', because: '4 tasks read' },
  },
  'tasks.added': {
    when: 'The document holds tasks that the ledger did not know.',
    example: { type: 'tasks.added', at, tasks: [addedTask], because: 'the document changed: 1 new task' },
  },
  'tasks.saved': {
    when: 'Statuses were written into the document, or could not be.',
    example: {
      type: 'tasks.saved',
      at,
      tasks: [task],
      hash: '…',
      because: 'the document shows what the ledger says',
    },
  },
  'task.closed': {
    when: 'A task is done; `verified` says whether a check proved it.',
    example: {
      type: 'task.closed',
      at,
      task,
      iteration,
      verified: true,
      because: 'claimed, and 1 check passed',
    },
  },
  'task.reopened': {
    when: 'A human asked to try a task again; its attempts start anew.',
    example: { type: 'task.reopened', at, task, because: 'a human asked to try again' },
  },
  'task.skipped': {
    when: 'A human, or `--on-escalation skip`, left a task out.',
    example: { type: 'task.skipped', at, task, by, because: 'a human left it out' },
  },
  'task.blocked': {
    when: 'A task used up its attempts or questions and is blocked.',
    example: { type: 'task.blocked', at, task, because: '5 attempts without a proven result, 5 allowed' },
  },
  'iteration.started': {
    when: 'The intent to run an agent, recorded before anything is started.',
    example: {
      type: 'iteration.started',
      at,
      iteration,
      task,
      performer,
      holder: '0199…',
      attempt: 1,
      because: 'first ready task in document order',
    },
  },
  'iteration.spawned': {
    when: 'The agent runs as a process of its own.',
    example: { type: 'iteration.spawned', at, iteration, pid: 4711, startTime: '123456', host: 'desk' },
  },
  'iteration.heartbeat': {
    when: 'A heartbeat while an agent works: after 1, 2, 4 … seconds, once a minute at last.',
    example: { type: 'iteration.heartbeat', at, iteration, quietMs: 12_000 },
  },
  'iteration.reported': {
    when: 'The agent reported by a tool of Ralph (MCP): its claim, a question, or a part of its account.',
    example: {
      type: 'iteration.reported',
      at,
      iteration,
      task,
      report: { type: 'done', task, evidence: [{ criterion: 1, evidence: 'npm test: 12 passed' }] },
    },
  },
  'iteration.nudged': {
    when: 'A step of the ladder for a quiet agent: nudge, escalate, terminate.',
    example: { type: 'iteration.nudged', at, iteration, level: 'nudge', because: 'quiet for 30m after 0 nudges' },
  },
  'iteration.ended': {
    when: 'The agent ended, was ended, or was found dead after a crash.',
    example: {
      type: 'iteration.ended',
      at,
      iteration,
      task,
      performer,
      outcome: 'succeeded',
      durationMs: 95_000,
      because: 'the agent ended after 1m35s and claims the task',
      excerpt: '',
      echo: '',
    },
  },
  'action.intended': {
    when: 'An action of a plan is about to have its effect. Recorded before anything leaves Ralph.',
    example: {
      type: 'action.intended',
      at,
      iteration,
      task: 'step_2',
      key: '0199…:step_2',
      repeatable: false,
      because: 'about to act: what happens from here on may have had its effect',
    },
  },
  'review.answered': {
    when: 'A reviewer answered by the schema.',
    example: {
      type: 'review.answered',
      at,
      iteration,
      task: 'R1-adversarial',
      answer: { confidence: 72, issues: [] },
      because: '0 issues found, confidence 72 %',
    },
  },
  'usage.recorded': {
    when: 'The agent reported tokens or money; only what is new is recorded.',
    example: {
      type: 'usage.recorded',
      at,
      iteration,
      performer,
      task,
      usage: { ...noUsage, inputTokens: 8_400, outputTokens: 620, costUsdMicros: 41_000 },
    },
  },
  'signal.read': {
    when: 'A claim was found in the last message or in the document, and taken up or refused.',
    example: {
      type: 'signal.read',
      at,
      iteration,
      task,
      signal: 'promise',
      text: 'DONE',
      accepted: false,
      because: 'the promise DONE was refused: 2 tasks still open (US-003, US-004)',
    },
  },
  'check.ended': {
    when: 'One of our checks of a claim ended.',
    example: {
      type: 'check.ended',
      at,
      iteration,
      task,
      check: 'npm test',
      passed: false,
      remaining: 0,
      detail: '',
      durationMs: 4_000,
      because: 'the claim was refused: the check "npm test" failed',
    },
  },
  'task.edit-rejected': {
    when: 'The criteria, dependencies or limits of a task, or a document that is the task, were edited while an iteration ran; the old ones hold.',
    example: {
      type: 'task.edit-rejected',
      at,
      task,
      iteration,
      criteria: ['it exists'],
      dependsOn: [],
      because: 'edited during iteration 3',
    },
  },
  'proof.screened': {
    when: 'Before a claim is believed the work itself was looked at: protected files were put back, or tests and checks had been weakened.',
    example: {
      type: 'proof.screened',
      at,
      iteration,
      task,
      doubts: [
        {
          kind: 'test-deleted',
          path: 'test/cart.test.ts',
          detail: 'the test file was deleted',
          severity: 'refuse',
          fingerprint: '…',
        },
      ],
      restored: [],
      refused: true,
      because: 'the claim was not believed: test/cart.test.ts: the test file was deleted',
    },
  },
  'work.accepted': {
    when: 'A person took such doubts for good; the claim is checked again.',
    example: { type: 'work.accepted', at, task, iteration, findings: ['…'], by: 'ada', because: 'the answer to E1' },
  },
  'work.set-aside': {
    when: 'A task is blocked or left out, or another one begins before it is done: its unfinished work leaves the files and stays in a checkpoint.',
    example: {
      type: 'work.set-aside',
      at,
      task: 'US-004',
      checkpoint: 9,
      commit: '4b1d0c9c1d1a',
      paths: ['test/cart.test.js'],
      count: 1,
      kept: [],
      reverted: '',
      because: 'its unfinished work was set aside: 1 file put back, kept in checkpoint 9',
    },
  },
  'work.given-back': {
    when: 'Work that was set aside came back into the files: ralph task retry ID --with-work, or a person accepted it.',
    example: {
      type: 'work.given-back',
      at,
      task: 'US-004',
      count: 1,
      kept: [],
      because: 'its work that was set aside came back: 1 file',
    },
  },
  'work.committed': {
    when: 'A task that is done became a commit on the branch, or there was nothing to commit, or it failed.',
    example: {
      type: 'work.committed',
      at,
      task,
      iteration,
      commit: '…',
      paths: 3,
      left: ['notes.txt'],
      because: '3 files committed; left out, because yours (dirty at the start, or edited by you meanwhile): notes.txt',
    },
  },
  'merge.ended': {
    when: 'The work of a fork was merged into the branch of the loop (--parallel), or could not be.',
    example: { type: 'merge.ended', at, iteration, task, merged: true, detail: '', because: 'the work was merged' },
  },
  'checkpoint.asked': {
    when: 'A person asked for a checkpoint (ralph checkpoint create).',
    example: {
      type: 'checkpoint.asked',
      at,
      kind: 'by-hand',
      label: 'by hand',
      by: 'ada',
      because: 'ralph checkpoint create',
    },
  },
  'checkpoint.made': {
    when: 'Files and state were saved: before the first iteration, after every one, before a restore, and by hand.',
    example: {
      type: 'checkpoint.made',
      at,
      checkpoint: '0199…',
      number: 4,
      commit: '…',
      tree: '…',
      iteration,
      task,
      ref: 'refs/ralph/…/4',
      kind: 'iteration',
      label: 'after iteration 3',
      sha256: '…',
      skipped: [],
      because: 'after iteration 3',
    },
  },
  'restore.asked': {
    when: 'A person (ralph undo, ralph checkpoint restore) or a rollback asks for the files of a checkpoint.',
    example: {
      type: 'restore.asked',
      at,
      to: { checkpoint: '0199…', number: 2, commit: '…', tree: '…' },
      by: 'ada',
      because: 'ralph undo',
      tasks: [{ id: task, status: 'pending' }],
    },
  },
  'checkpoint.restored': {
    when: 'The files are those of the checkpoint again, or (`refused`) nothing was changed.',
    example: {
      type: 'checkpoint.restored',
      at,
      checkpoint: '0199…',
      number: 2,
      ref: '…',
      written: 3,
      deleted: 1,
      merged: [],
      kept: [],
      because: 'ralph undo',
    },
  },
  'command.refused': {
    when: 'An agent tried to give a command to its own loop; nothing was done.',
    example: {
      type: 'command.refused',
      at,
      command: 'answer',
      by: 'iteration 3',
      because: 'an agent may not give commands to its own loop',
    },
  },
  'escalation.raised': {
    when: 'A question to a human, from the agent or from Ralph itself.',
    example: {
      type: 'escalation.raised',
      at,
      escalation: {
        id: 'E1',
        kind: 'stuck',
        task,
        iteration,
        summary: 'The same error 3 times in a row',
        context: '',
        options: [],
        question: '',
        raisedAt: at,
      },
      because: '3 identical errors, 3 allowed (STUCK_THRESHOLD)',
    },
  },
  'escalation.answered': {
    when: 'The answer, or one that came too late and has no effect.',
    example: {
      type: 'escalation.answered',
      at,
      id: 'E1',
      answer: { kind: 'option', option: 1 },
      by,
      because: 'a human answered: option',
    },
  },
  'branch.accepted': {
    when: 'Somebody had switched, detached or reset, and a human chose that the loop goes on there.',
    example: {
      type: 'branch.accepted',
      at,
      head: { ref: 'refs/heads/other', commit: '…' },
      by,
      because: 'the answer to E2',
    },
  },
  'approval.given': {
    when: 'A human approved a plan, exactly as it was when it had this hash.',
    example: { type: 'approval.given', at, subject: 'onboarding', hash: '…', by, because: 'ralph plan approve --yes' },
  },
  'guidance.given': {
    when: 'Words for the next prompt: from an answer, from `ralph tell`, or from Ralph.',
    example: { type: 'guidance.given', at, text: 'Use the v2 endpoint', by, because: 'told by a human' },
  },
  'guidance.delivered': {
    when: 'Such words were given to the working performer, or it cannot be spoken to.',
    example: {
      type: 'guidance.delivered',
      at,
      id: 'G1',
      iteration: 3,
      delivered: true,
      because: 'told to claude while it works',
    },
  },
  'limits.changed': {
    when: 'The same loop goes on with other limits, checks, agent or promise.',
    example: {
      type: 'limits.changed',
      at,
      limits: { iterationsMax: 80 },
      by,
      because: 'set: iterationsMax',
    },
  },
  'performer.tripped': {
    when: 'An agent failed by its own fault several times and rests.',
    example: {
      type: 'performer.tripped',
      at,
      performer,
      until: at + 60_000,
      because: 'command: spawn again; it rests for 1m',
    },
  },
  'performer.recovered': {
    when: 'A resting agent ended an iteration well again.',
    example: { type: 'performer.recovered', at, performer, because: 'an iteration ended well' },
  },
  'windows.reported': {
    when: "An agent with a subscription tells the windows of its provider's limits: the first time, and when one of them changed by a twentieth or is used up. Some plans have none.",
    example: {
      type: 'windows.reported',
      at,
      iteration: 3,
      performer: 'claude',
      windows: [
        { name: 'five_hour', usedFraction: 0.92, resetAtMs: at + 3_600_000, isUsedUp: false },
        { name: 'seven_day', usedFraction: 0.41, resetAtMs: at + 86_400_000, isUsedUp: false },
      ],
    },
  },
  'permissions.stated': {
    when: 'An agent tells the permission mode that it works in: the first time, and when it is another one. In one in which it could change no file the iteration is stopped at once.',
    example: { type: 'permissions.stated', at, iteration: 3, performer: 'claude', mode: 'bypassPermissions' },
  },
  'budget.alerted': {
    when: 'Four fifths of the money are spent; once per loop. What a subscription covers is told so, too.',
    example: { type: 'budget.alerted', at, fraction: 0.82, because: '$4.10 of $5.00' },
  },
  'stop.asked': {
    when: '`ralph stop`, or an answer that says abort.',
    example: { type: 'stop.asked', at, by, because: 'ralph stop' },
  },
  'loop.paused': {
    when: '`ralph pause`.',
    example: { type: 'loop.paused', at, by, now: false, because: 'ralph pause' },
  },
  'loop.resumed': {
    when: 'After a pause, after a limit was raised, or when a new process goes on with the loop.',
    example: { type: 'loop.resumed', at, by, because: 'a new process goes on with the loop' },
  },
  'loop.ended': {
    when: 'The end, with one of nine reasons.',
    example: { type: 'loop.ended', at, reason: 'goal_achieved', because: '4 of 4 tasks done' },
  },
};
