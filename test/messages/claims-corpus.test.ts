// Holds readSignals against a corpus of adversarial final messages: nothing false, nothing missed.
import { describe, expect, it } from 'vitest';
import { readSignals } from '../../src/messages/claims.ts';
import { acceptedAsBoth, acceptedAsDone, acceptedAsPromise } from '../fixtures/signals/accepted.ts';
import { type Message, rejected } from '../fixtures/signals/rejected.ts';

type Claim = 'done' | 'promise';

function claims(entry: Message, claim: Claim): boolean {
  const { task = 'US-001', promise = 'DONE', hasBox, message } = entry;
  return readSignals(message, { task, promise, hasBox })[claim];
}

function score(claim: Claim, must: readonly Message[], mustNot: readonly Message[]) {
  const missed = must.filter(entry => !claims(entry, claim)).map(entry => entry.name);
  const wrong = mustNot.filter(entry => claims(entry, claim)).map(entry => entry.name);
  const hits = must.length - missed.length;
  const precision = hits / (hits + wrong.length);
  const recall = hits / must.length;
  console.log(
    `${claim}: precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)} (${must.length} must count, ${mustNot.length} must not)`,
  );
  return { missed, wrong };
}

describe('given a corpus of adversarial final messages', () => {
  it('is as large as promised, and every message has a name of its own', () => {
    const accepted = [...acceptedAsDone, ...acceptedAsPromise, ...acceptedAsBoth];
    expect(rejected.length).toBeGreaterThanOrEqual(130);
    expect(accepted.length).toBeGreaterThanOrEqual(60);
    for (const list of [rejected, acceptedAsDone, acceptedAsPromise, acceptedAsBoth]) {
      expect(new Set(list.map(entry => entry.name)).size).toBe(list.length);
    }
  });

  it('when reading claims, then none is false and none is missed', () => {
    const result = score('done', [...acceptedAsDone, ...acceptedAsBoth], [...rejected, ...acceptedAsPromise]);
    expect(result).toEqual({ missed: [], wrong: [] });
  });

  it('when reading promises, then none is false and none is missed', () => {
    const result = score('promise', [...acceptedAsPromise, ...acceptedAsBoth], [...rejected, ...acceptedAsDone]);
    expect(result).toEqual({ missed: [], wrong: [] });
  });
});
