// Missing variables: a failure that names a variable which the user has and the agent did not get says so, with the flag.
import type { Performer } from '../../agents/performer.ts';

/** What programs say that miss a variable without naming it. */
const smells: readonly (readonly [words: string, variable: string])[] = [
  ['connect to the docker daemon', 'DOCKER_HOST'],
  ['your authentication agent', 'SSH_AUTH_SOCK'],
  ['permission denied (publickey', 'SSH_AUTH_SOCK'],
  ['direnv: error', 'DIRENV_DIR'],
];

/** A name that is no plain word: everybody has a variable called PWD or _. */
const isTelling = (name: string): boolean => /^[A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9]$/.test(name);

/** The one of those withheld that the text is about. */
export function missingVariable(text: string, withheld: readonly string[]): string | undefined {
  const words = new Set(text.match(/\w+/g));
  const lower = text.toLowerCase();
  const meant = smells.find(([said, name]) => lower.includes(said) && withheld.includes(name))?.[1];
  return withheld.find(name => isTelling(name) && words.has(name)) ?? meant;
}

/** `given`: the variables that it gets; of the user's others it may miss one. */
export function namingMissing(
  performer: Performer,
  given: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string | undefined>>,
): Performer {
  const withheld = Object.keys(env).filter(name => !Object.hasOwn(given, name));
  return {
    ...performer,
    async *perform(assignment, stop) {
      for await (const activity of performer.perform(assignment, stop)) {
        const failure = activity.type === 'ended' ? activity.failure : undefined;
        const missed = failure && missingVariable(failure.detail, withheld);
        if (activity.type !== 'ended' || failure === undefined || missed === undefined) yield activity;
        else {
          const detail = `${failure.detail} (${missed} is set for you and not passed on: --agent-env ${missed})`;
          yield { ...activity, failure: { ...failure, detail } };
        }
      }
    },
  };
}
