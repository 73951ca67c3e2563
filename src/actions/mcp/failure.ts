// Says what a talk that failed means: above all whether the effect may have happened although no answer came (F62).
import { classifyFailure, type Failure } from '../../core/failure.ts';
import { fieldsOf, textOf } from '../../text/fields.ts';
import { oneLine } from '../../text/text.ts';
import type { Break } from './server.ts';

/** How far a call has come. */
export interface Call {
  /** It has left us, or may have. */
  isOut: boolean;
  isRepeatable: boolean;
}

interface Judged {
  readonly failure: Failure;
  /** The server said, or it is plain, that nothing was done. */
  readonly isUndone?: boolean;
}

const detailCharsMax = 1_000;
/** Of JSON-RPC: parse error, invalid request, method not found. */
const refusedCodes = [-32_700, -32_600, -32_601];
const invalidParams = -32_602;
const neverConnected = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
];

export function failureOf(error: unknown, broken: Break | undefined, call: Call): Failure {
  const { failure, isUndone = false } = broken === undefined ? ofError(error) : { failure: ofBreak(broken, call) };
  if (!call.isOut || call.isRepeatable || isUndone) return failure;
  return lostReply(failure.detail);
}

/** For an answer that came and is none: the tool has run, so only what may run twice may run again. */
export function unreadable(detail: string, { isRepeatable }: Call): Failure {
  return isRepeatable ? { kind: 'refused', detail } : { kind: 'lost-reply', detail: `${detail}; the tool has run` };
}

/** The words by which the official servers say that the tool ran, but that its answer breaks its own schema. */
export const saysBadOutput = (text: string): boolean => /output validation error/i.test(text.slice(0, detailCharsMax));

/** The same servers give the code for wrong parameters to wrong results too: only their words tell which. */
const saysBadInput = (text: string): boolean => /input|argument|param/i.test(text) && !/output|result/i.test(text);

/** On one line: it stands in the middle of sentences. */
export const shortened = (text: string): string => oneLine(text, detailCharsMax);

function lostReply(detail: string): Failure {
  return { kind: 'lost-reply', detail: `the call was sent, but no good answer came (${detail}): it may have happened` };
}

function ofBreak(broken: Break, { isOut }: Call): Failure {
  if (broken.why === 'stop')
    return { kind: 'stopped', detail: isOut ? 'stopped during the call' : 'stopped before the call' };
  if (broken.why === 'time')
    return { kind: 'timeout', detail: `no ${isOut ? 'answer' : 'start of the call'} in ${broken.timeMs / 1_000} s` };
  if (broken.why === 'unreadable') return { kind: 'process', detail: broken.detail };
  const { kind, detail, exitCode } = broken;
  return { kind, detail, exitCode };
}

function ofError(error: unknown): Judged {
  const { code, status, message, cause } = fieldsOf(error);
  const said = shortened(textOf(message));
  if (typeof status === 'number') return ofStatus(status, said);
  if (typeof code === 'number') return ofAnswer(code, said);
  if (code === 'UNSUPPORTED_RESULT_TYPE')
    return {
      failure: { kind: 'refused', detail: 'the tool asks for input that nobody can give here' },
      isUndone: true,
    };
  const causeCode = textOf(fieldsOf(cause)['code']);
  const detail = causeCode === '' ? said || 'the connection broke' : `${said}: ${causeCode}`;
  return { failure: { kind: 'connection', detail }, isUndone: neverConnected.includes(causeCode) };
}

function ofStatus(status: number, said: string): Judged {
  const { kind } = classifyFailure({ status, text: '' });
  const detail = `the server answered HTTP ${status}${said === '' ? '' : `: ${said}`}`;
  return { failure: { kind: kind === 'unknown' ? 'refused' : kind, detail }, isUndone: status < 500 };
}

function ofAnswer(code: number, said: string): Judged {
  const isRefused = refusedCodes.includes(code) || (code === invalidParams && saysBadInput(said));
  const detail = `the server answered with error ${code}: ${said}`;
  return { failure: { kind: isRefused ? 'invalid' : 'refused', detail }, isUndone: isRefused };
}
