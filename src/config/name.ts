// Makes the name of a loop safe to use in paths, branches and addresses (B13).
import { good, type Reading, refuse, shown } from './reading.ts';

const slugPattern = /^[a-z0-9][a-z0-9-]{0,62}$/;
const slugCharactersMax = 63;
/** Names that Windows gives to devices, whatever the folder. */
const reserved = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])$/;

/** The slug of a text; callers show it when it differs from what was typed. */
export function slugOf(text: string, label = 'name'): Reading<string> {
  const slug = text
    .slice(0, 4_096)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, slugCharactersMax)
    .replace(/-$/, '');
  if (!slugPattern.test(slug))
    return refuse(`${label}: ${shown(text)} has no letter a-z or digit to make a name of; use a name like add-login.`);
  if (reserved.test(slug))
    return refuse(`${label}: ${shown(text)} is the name of a device on Windows; use a name like ${slug}-loop.`);
  return good(slug);
}
