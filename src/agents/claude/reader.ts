// Understands Claude Code's stream-json: what is said, done, used and why it ended.
import type { Heard, Reader } from '../../ports/agent.ts';
import { type Fields, fieldsOf, listOf, textOf } from '../../process/fields.ts';
import { unknownEvent } from '../../process/json-lines.ts';
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

/** It goes on: what was in its way is so no longer. */
const afterTrouble = ({ rejected }: Trouble): Trouble => (rejected === undefined ? noTrouble : { rejected });

export function claudeReader(): Reader {
  const live = liveUsage();
  const words = hearWords();
  let trouble = noTrouble;
  let result: Fields | undefined;
  let isDelegating = false;

  function readPiece(event: Fields): readonly Heard[] {
    const piece = fieldsOf(event['event']);
    if (piece['type'] === 'message_start') trouble = afterTrouble(trouble);
    const usage = live.read(event, piece);
    if (usage !== undefined) return usage;
    return event['parent_tool_use_id'] == null ? words.piece(event['api_message_id'] ?? live.mainId(), piece) : nothing;
  }

  /** Where the model could not answer, claude writes a message itself. */
  function readMessage(event: Fields): readonly Heard[] {
    const isOwn = fieldsOf(event['message'])['model'] === '<synthetic>' || event['is_api_error_message'] === true;
    if (isOwn) trouble = { ...trouble, failed: event };
    else trouble = afterTrouble(trouble);
    return words.whole(event, isOwn);
  }

  function readSystem(event: Fields): readonly Heard[] {
    if (event['subtype'] === 'init') return [{ type: 'session', id: textOf(event['session_id']) }];
    if (event['subtype'] === 'background_tasks_changed') isDelegating = hasSubagents(event);
    if (event['subtype'] === 'api_retry') trouble = { ...trouble, retried: event };
    return nothing;
  }

  function readResult(event: Fields): readonly Heard[] {
    result = event;
    return resultUsage(event, live.models());
  }

  function readLimit(event: Fields): readonly Heard[] {
    const info = fieldsOf(event['rate_limit_info']);
    if (info['status'] === 'rejected') trouble = { ...trouble, rejected: info };
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
      const problem = claudeProblem(result, trouble);
      const isGood = result !== undefined && problem === undefined;
      return {
        finished: result !== undefined && !isDelegating,
        get message() {
          return (isGood && textOf(result?.['result'])) || words.last();
        },
        ...(problem === undefined ? {} : { problem }),
      };
    },
  };
}
