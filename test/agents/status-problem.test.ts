// Proves which failure an HTTP status in an agent's own words is.
import { describe, expect, it } from 'vitest';
import { statusAtStart, statusProblem } from '../../src/agents/failures.ts';

describe('a problem with a status', () => {
  it.each([
    [404, 'The model does not exist', 'model'],
    [429, '429: {"message":"No more.","code":"insufficient_quota"}', 'billing'],
    [429, '429: {"message":"Slow down."}', undefined],
    [400, '400 {"error":{"message":"Too much.","code":"context_length_exceeded"}}', 'context-too-long'],
    [400, 'the file says context', undefined],
    [401, 'No.', undefined],
  ])('%i and the words %s are of the kind %s', (status, text, kind) => {
    expect(statusProblem(status, text)).toMatchObject({ status });
    expect(statusProblem(status, text).kind).toBe(kind);
  });

  it.each([
    ['429: {"message":"Slow down.","code":null}', '429: Slow down.'],
    ['400 {"type":"error","error":{"message":"Too much."}}', '400: Too much.'],
    ['429: {"message":', '429: {"message":'],
    ['500: {"nothing":"here"}', '500: {"nothing":"here"}'],
    ['Connection error.', 'Connection error.'],
  ])('%s is told as %s', (text, words) => {
    expect(statusProblem(undefined, text)).toEqual({ text: words });
  });

  it.each([200, 999, 429.5, '429', Number.NaN, null])('%s is no status', status => {
    expect(statusProblem(status, 'words')).toEqual({ text: 'words' });
  });

  it.each([
    ['429 Too many', 429],
    ['401: {}', 401],
    ['4290 things', undefined],
    ['200 OK', undefined],
    ['error 429', undefined],
  ])('%s begins with the status %s', (text, status) => {
    expect(statusAtStart(text)).toBe(status);
  });
});
