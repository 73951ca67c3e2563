// Names what opencode says went wrong: by the name of its error, then by the provider's status and headers.
import type { FailureKind } from '../../core/failure.ts';
import type { StreamProblem } from '../agent.ts';
import { type Fields, fieldsOf, textOf } from '../../text/fields.ts';
import { resetOf } from '../reset-headers.ts';
import { statusProblem } from '../status-problem.ts';

const kinds: ReadonlyMap<string, FailureKind> = new Map([
  ['ContextOverflowError', 'context-too-long'],
  ['ProviderAuthError', 'auth'],
  ['ProviderModelNotFoundError', 'model'],
]);

export function opencodeProblem(event: Fields): StreamProblem {
  const error = fieldsOf(event['error']);
  const data = fieldsOf(error['data']);
  const isUnreached = data['isRetryable'] === true && data['statusCode'] === undefined;
  const kind = kinds.get(textOf(error['name'])) ?? (isUnreached ? 'connection' : undefined);
  const resetAtMs = resetOf(fieldsOf(data['responseHeaders']), event['timestamp']);
  const problem = statusProblem(data['statusCode'], textOf(data['message']) || textOf(error['name']));
  return { ...problem, kind: kind ?? problem.kind, resetAtMs };
}
