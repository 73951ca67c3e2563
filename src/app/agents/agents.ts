// Agents as a person is told about them: which is taken unasked, its login, and how we know that its record is right.
import { existsSync, readFileSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import type { Account, AgentCli, OwnPlace, Proof } from '../../agents/agent.ts';
import { type CliName, cliNames, loadCli } from '../../agents/registry.ts';
import type { AgentName } from '../../config/agents.ts';
import { findProgram } from '../../processes/find-program.ts';
import { fieldsOf } from '../../text/fields.ts';

export { cliNames };

type Variables = Readonly<Record<string, string | undefined>>;

/** Those that are taken where nobody named one, in the order of the registry. */
export async function* clisFor(task: 'work' | 'judge'): AsyncGenerator<AgentCli & { readonly name: CliName }> {
  for (const name of cliNames) {
    const cli = await loadCli(name);
    if (cli.chosenFor.includes(task)) yield { ...cli, name };
  }
}

export type Login =
  | { readonly known: true; readonly by: 'variable' | 'files'; readonly words: string }
  | { readonly known: false; readonly words: 'unknown' };

/** Whether the agent will find a login, as far as we can see without asking anybody. A variable beats the files. */
export function loginOf({ login }: Pick<AgentCli, 'login'>, env: Variables): Login {
  const variable = login.variables.find(name => (env[name] ?? '') !== '');
  if (variable !== undefined) {
    const billing = /API_KEY$/.test(variable) ? ' (API billing)' : '';
    return { known: true, by: 'variable', words: `${variable} is passed on${billing}` };
  }
  const home = env['HOME'];
  const hasFile = home !== undefined && isAbsolute(home) && login.files.some(name => existsSync(join(home, name)));
  return hasFile ? { known: true, by: 'files', words: 'its own files' } : { known: false, words: 'unknown' };
}

/** Who pays for it and which model works, by what is there before it is started. Values of secrets stay where they are. */
export const accountOf = (
  cli: Pick<AgentCli, 'account'>,
  environment: Variables,
  args: readonly string[] = [],
): Account => cli.account?.(ownPlace(environment, args)) ?? {};

export function ownPlace(environment: Variables, args: readonly string[] = []): OwnPlace {
  const home = environment['HOME'] ?? '';
  const text = (path: string): string | undefined => {
    if (!isAbsolute(path) && !isAbsolute(home)) return undefined;
    try {
      return readFileSync(resolve(home, path), 'utf8');
    } catch {
      return undefined;
    }
  };
  const json: OwnPlace['json'] = (path, keep) => {
    const withoutSecrets = (key: string, value: unknown): unknown =>
      typeof value === 'string' && value !== '' && !keep.includes(key) ? 'present' : value;
    try {
      return fieldsOf(JSON.parse(text(path) ?? '', withoutSecrets));
    } catch {
      return {};
    }
  };
  return { environment, args, text, json };
}

/** What is said about an agent of which we have seen only the manual. */
export function proofWords(name: string, proof: Proof): string | undefined {
  return proof === 'documented' ? `${name}: built from its manual, never run by us` : undefined;
}

export async function firstInstalled(
  env: Variables,
  directory: string,
  acpCommand: readonly string[] | undefined,
): Promise<AgentName | undefined> {
  for await (const { name, program } of clisFor('work')) {
    if (findProgram(program, directory, env).type === 'found') return name;
  }
  const isAcp = findProgram(acpCommand?.[0] ?? '', directory, env).type === 'found';
  return isAcp ? 'acp' : undefined;
}
