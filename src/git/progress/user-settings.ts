// The user's git settings that a commit needs: their name, and the files of their own rules. Asked once, and when a file changed.
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { settingsLike } from '../call.ts';
import { ralph } from '../checkpoints/refs.ts';
import { stampOf } from '../disk.ts';
import type { Person } from '../objects.ts';
import type { Repository } from '../repository.ts';

export interface UserSettings {
  readonly author: Person;
  readonly committer: Person;
  /** Files of rules that hold in every repository, whether they are there or not. */
  readonly excludes: readonly string[];
  readonly attributes: readonly string[];
  /** Where no attributes are, a file is committed as it is on disk. */
  readonly isPlain: boolean;
}

/** What is known in this process. */
export interface KnownSettings {
  settings?: { readonly seen: string; readonly found: UserSettings };
}

const pattern =
  '^((user|author|committer)\\.(name|email)|core\\.(excludesfile|attributesfile|autocrlf|filemode|symlinks))$';

export async function userSettings(repository: Repository, known: KnownSettings = {}): Promise<UserSettings> {
  const { HOME = homedir(), XDG_CONFIG_HOME = join(HOME, '.config') } = repository.environment;
  const files = [
    join(repository.commonDirectory, 'config'),
    join(repository.gitDirectory, 'config.worktree'),
    join(HOME, '.gitconfig'),
    join(XDG_CONFIG_HOME, 'git', 'config'),
  ];
  const seen = (await Promise.all(files.map(stampOf))).join(' ');
  if (known.settings?.seen === seen) return known.settings.found;
  const values = await settingsLike(repository, pattern);
  const rules = (setting: string, byDefault: string): string => {
    const set = values.get(setting);
    const path = set === undefined ? join(XDG_CONFIG_HOME, 'git', byDefault) : set.replace(/^~(?=\/)/, HOME);
    return isAbsolute(path) ? path : repository.gitDirectory; // git knows which; this one is there and always new
  };
  const found: UserSettings = {
    author: personIn(values, 'author'),
    committer: personIn(values, 'committer'),
    excludes: [rules('core.excludesfile', 'ignore')],
    isPlain: isOff(values.get('core.autocrlf') ?? 'false') && !converting.some(name => isOff(values.get(name) ?? '')),
    attributes: [rules('core.attributesfile', 'attributes'), ...systemAttributes],
  };
  known.settings = { seen, found };
  return found;
}

const isOff = (value: string): boolean => /^(false|no|off|0)$/i.test(value);
/** Without these, modes and links are what the index says they were. */
const converting = ['core.filemode', 'core.symlinks'];

/** Where builds of git look for those of the whole machine. */
const systemAttributes = ['/etc', '/usr/local/etc', '/opt/homebrew/etc', '/usr/etc'].map(etc => `${etc}/gitattributes`);

/** Their own name; ours only when their settings lack a part of it. */
function personIn(values: ReadonlyMap<string, string>, role: 'author' | 'committer'): Person {
  const setting = (field: string) => withoutCrud(values.get(`${role}.${field}`) ?? values.get(`user.${field}`) ?? '');
  const person = { name: setting('name'), email: setting('email') };
  return person.name !== '' && person.email !== '' ? person : ralph;
}

/** As git itself does: what a line of a commit cannot hold goes, and signs and spaces at both ends. */
const withoutCrud = (text: string): string =>
  text.replace(/[\n<>]/g, '').replace(/^[\u0000-\u0020.,:;"\\']+|[\u0000-\u0020.,:;"\\']+$/g, '');
