// Understands Claude Code's stream-json: what is said, done, used and why it ended.
import type { Heard, Reader, StreamProblem } from '../agent.ts';
import { type Fields, fieldsOf, listOf, textOf } from '../../text/fields.ts';
import { unknownEvent } from '../stream.ts';
import { claudeLimit, claudeProblem, type Trouble } from './problem.ts';
import { liveUsage, resultUsage } from './usage.ts';
import { hearWords } from './words.ts';

const nothing: readonly Heard[] = Object.freeze([]);
const noTrouble: Trouble = {};
const deltaStart = '{"type":"stream_event","event":{"type":"content_block_delta"';
const deltaType = '"delta":{"type":"';

/** Of the many pieces of a message only those of its text are read. */
function skips(line: string): boolean {
  if (!line.startsWith(deltaStart)) return false;
  const at = line.indexOf(deltaType, deltaStart.length);
  return at >= 0 && !line.startsWith('text_delta"', at + deltaType.length);
}

function toolsEnded(event: Fields): readonly Heard[] {
  const content = listOf(fieldsOf(event['message'])['content']);
  const results = content.filter(block => fieldsOf(block)['type'] === 'tool_result');
  return results.map(() => ({ type: 'tool', name: '', detail: '', phase: 'ended' }));
}

/** While a subagent works in the background, claude's last word is yet to come: it hears of the end and speaks again. */
function hasSubagents(event: Fields): boolean {
  return listOf(event['tasks']).some(task => fieldsOf(task)['task_type'] === 'local_agent');
}

/** What was in its way is so no longer. */
const afterTrouble = ({ rejected }: Trouble): Trouble => (rejected === undefined ? noTrouble : { rejected });

interface Turns {
  /** `init`: one comes before each turn. */
  began(): void;
  /** A message comes; `isMain`: not from a subagent. */
  goesOn(isMain: boolean): void;
  hadTrouble(more: Trouble): void;
  ended(event: Fields): void;
  /** That of the last turn, while no other has begun. */
  result(): Fields | undefined;
  problem(): StreamProblem | undefined;
}

/** After a result it may begin a turn by itself, for a note that came late or a task that ended: that was not its last. */
function followTurns(): Turns {
  let trouble = noTrouble;
  let result: Fields | undefined;
  let hasBegun = false;
  function goesOn(isMain: boolean): void {
    trouble = afterTrouble(trouble);
    if (isMain) result = undefined;
  }
  return {
    goesOn,
    began() {
      if (hasBegun) goesOn(true);
      hasBegun = true;
    },
    hadTrouble(more) {
      trouble = { ...trouble, ...more };
    },
    ended(event) {
      result = event;
    },
    result: () => result,
    problem: () => claudeProblem(result, trouble),
  };
}

export function claudeReader(): Reader {
  const live = liveUsage();
  const words = hearWords();
  const turns = followTurns();
  let isDelegating = false;

  function readPiece(event: Fields): readonly Heard[] {
    const piece = fieldsOf(event['event']);
    const isMain = event['parent_tool_use_id'] == null;
    if (piece['type'] === 'message_start') turns.goesOn(isMain);
    const usage = live.read(event, piece);
    if (usage !== undefined) return usage;
    return isMain ? words.piece(event['api_message_id'] ?? live.mainId(), piece) : nothing;
  }

  /** Where the model could not answer, claude writes a message itself. */
  function readMessage(event: Fields): readonly Heard[] {
    const isOwn = fieldsOf(event['message'])['model'] === '<synthetic>' || event['is_api_error_message'] === true;
    if (isOwn) turns.hadTrouble({ failed: event });
    else turns.goesOn(event['parent_tool_use_id'] == null);
    return words.whole(event, isOwn);
  }

  function readSystem(event: Fields): readonly Heard[] {
    if (event['subtype'] === 'init') {
      turns.began();
      return [{ type: 'session', id: textOf(event['session_id']) }];
    }
    if (event['subtype'] === 'background_tasks_changed') isDelegating = hasSubagents(event);
    if (event['subtype'] === 'api_retry') turns.hadTrouble({ retried: event });
    return nothing;
  }

  function readResult(event: Fields): readonly Heard[] {
    turns.ended(event);
    return resultUsage(event, live);
  }

  function readLimit(event: Fields): readonly Heard[] {
    const info = fieldsOf(event['rate_limit_info']);
    if (info['status'] === 'rejected') turns.hadTrouble({ rejected: info });
    return claudeLimit(info);
  }

  const readers: ReadonlyMap<unknown, (event: Fields) => readonly Heard[]> = new Map([
    ['stream_event', readPiece],
    ['assistant', readMessage],
    ['user', toolsEnded],
    ['system', readSystem],
    ['result', readResult],
    ['rate_limit_event', readLimit],
    ['control_response', () => nothing],
  ]);

  return {
    skips,
    read: event => readers.get(event['type'])?.(event) ?? unknownEvent,
    verdict() {
      const [result, problem] = [turns.result(), turns.problem()];
      const isGood = result !== undefined && problem === undefined;
      return {
        finished: result !== undefined && !isDelegating,
        get message() {
          return (isGood && textOf(result?.['result'])) || words.last();
        },
        problem,
      };
    },
  };
}
