// Who gets the terminal: only an agent that knows what to do with it, and only where there is one.
import { cliNames } from '../app/agents/agents.ts';
import type { Staff } from '../app/agents/performers.ts';
import { UsageError } from '../text/errors.ts';

/** The terminal can be given only where there is one, and only to an agent that knows what to do with it. */
export function refuseWithoutTerminal({ performers }: Staff, hasTerminal: boolean, isInterview: boolean): void {
  const cannot = Object.values(performers).find(one => !one.can.interactive);
  if (cannot !== undefined)
    throw new UsageError(
      `The agent ${cannot.name} cannot be given the terminal.`,
      isInterview ? `Name one that can, by --agent: ${cliNames.join(', ')}.` : 'Leave out --interactive.',
    );
  if (hasTerminal) return;
  throw isInterview
    ? new UsageError('An interview needs a person at a terminal.', 'Run it at one, without CI or --no-input.')
    : new UsageError('An interactive agent needs a terminal.', 'Run it at one, or leave out --interactive.');
}
