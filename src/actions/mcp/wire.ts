// Cuts what a stdio server writes into messages; noise on its stdout is borne with, an answer that is damaged is told.
import { isFields } from '../../text/fields.ts';
import { cutMarker } from '../../processes/text.ts';
import { answerBytesMax, tooLarge } from './connection.ts';

export interface WireOrder {
  onMessage(message: object): void;
  /** A line that is no message: servers that log to stdout are common. */
  onNoise(line: string): void;
  onUnreadable(detail: string): void;
}

export interface Wire {
  push(text: string): void;
}

const edgeChars = 300;

export function openWire(order: WireOrder): Wire {
  const pieces: string[] = [];
  const marker = cutMarker(answerBytesMax);

  function take(line: string): void {
    if (line.trim() === '') return;
    const value = parsed(line);
    if (line.length > edgeChars && line.endsWith(marker)) order.onUnreadable(tooLarge);
    else if (!isFields(value) || value['jsonrpc'] !== '2.0') {
      if (value === undefined && looksLikeMessage(line)) order.onUnreadable('its answer is damaged');
      else order.onNoise(line);
    } else if ('method' in value || 'result' in value || 'error' in value) order.onMessage(value);
    else order.onUnreadable('its answer holds neither a result nor an error');
  }

  return {
    push(text) {
      let from = 0;
      for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', from)) {
        pieces.push(text.slice(from, at));
        from = at + 1;
        take(pieces.splice(0).join(''));
      }
      if (from < text.length) pieces.push(text.slice(from));
    },
  };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}

/** Servers put the word at either end. */
function looksLikeMessage(line: string): boolean {
  return `${line.slice(0, edgeChars)}${line.slice(-edgeChars)}`.includes('"jsonrpc"');
}
