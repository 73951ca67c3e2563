// PRD.json, and the prd.json of snarktank's ralph and ralph-tui: stories with criteria, marked without touching another byte.
import type { TaskSpec } from '../../core/task.ts';
import { type Fields, fieldsOf, isFields, textOf } from '../../text/fields.ts';
import { bareName, editDistance } from '../../text/similarity.ts';
import { shown } from '../../text/text.ts';
import { type JsonFields, jsonTaskFormat } from '../json-tasks.ts';

export const prd = jsonTaskFormat({
  name: 'prd',
  list: 'userStories',
  example: '{ "project": … }',
  anchors: ['passes'],

  /** Also true for a broken document, so that its faults are told instead of "unknown format". */
  recognises(fileName, text) {
    return /\.json$/i.test(fileName) && /"userStories"\s*:\s*\[/.test(text);
  },

  wording: {
    noun: 'story',
    plural: 'stories',
    fix: 'Add "userStories": [ … ].',
    dependenciesKey: story => listKey(fieldsOf(story), dependencyNames),
  },
  about: readAbout,
  task: ({ allowEmptyCriteria = false }) => {
    const meantBy = meantAmong(storyKeys);
    return story => {
      watchKeys(story, story.name(), meantBy);
      return readStory(story, allowEmptyCriteria);
    };
  },
  /** The lower number goes first; stories without one come last; without any priority the document's order stands. */
  rank: story => priorityOf(story['priority']),
  moreNotices: 'texts look odd',

  mark(story, { done, skipped }) {
    story.set('passes', String(done));
    story.set('skipped', String(skipped), 'false');
  },
});

const documentKeys = ['project', 'description', 'userStories'];
const storyKeys = ['id', 'title', 'description', 'criteria', 'depends_on', 'passes', 'skipped', 'mayChangeTests'];
/** What snarktank's ralph, ralph-tui and their kin call the same things; ours go first. */
const projectNames = ['project', 'name', 'projectName'];
const criteriaNames = ['criteria', 'acceptanceCriteria'];
const dependencyNames = ['depends_on', 'dependsOn', 'dependencies'];
const notesNames = ['notes', 'completionNotes'];
/** Words that stand for a priority, as the lower number goes first. */
const priorityWords: Readonly<Record<string, number>> = { critical: 0, high: 1, medium: 2, low: 3 };
/** Everything that is read; the rest of a document is the writer's own. */
export const prdKeys = {
  list: 'userStories',
  document: [...documentKeys, ...projectNames],
  row: [...storyKeys, ...criteriaNames, ...dependencyNames],
};
const slipCharsMin = 4; // of shorter keys nearly everything is a near miss
const keyCharsMax = 40;

type MeantBy = (key: string) => string | undefined;

/** The known key that an unknown one was probably meant to be; remembered, as ten thousand stories have the same keys. */
function meantAmong(known: readonly string[]): MeantBy {
  const find: MeantBy = key => {
    if (known.includes(key) || key.length > keyCharsMax) return undefined;
    const written = bareName(key);
    return (
      known.find(each => bareName(each) === written) ??
      known.find(each => each.length >= slipCharsMin && editDistance(written, bareName(each)) === 1)
    );
  };
  const answers = new Map<string, string | undefined>();
  return key => {
    if (!answers.has(key)) answers.set(key, find(key));
    return answers.get(key);
  };
}

function readAbout(fields: JsonFields) {
  watchKeys(fields, 'The document', meantAmong(documentKeys));
  const project = fields.text(projectNames.find(key => fields.has(key)) ?? 'project', 'Name the project.');
  const description = fields.optionalText('description');
  const branch = textOf(fields.value['branchName']);
  const unused = `branchName ${shown(branch)} is not followed: start the loop on the branch that you want.`;
  return { project, goal: description.trim() === '' ? project : description, notices: branch === '' ? [] : [unused] };
}

/** Other keys are the writer's own; one that is nearly ours is probably a slip. */
function watchKeys(fields: JsonFields, place: string, meantBy: MeantBy): void {
  for (const [key, value] of Object.entries(fields.value)) {
    const isTaken = Array.isArray(value) && dependencyNames.includes(key);
    const meant = isTaken ? undefined : meantBy(key);
    if (meant !== undefined) fields.notice(`${place} has a key ${shown(key)}, which is ignored: write "${meant}".`);
  }
}

/** The first name that stands there with a list; our own name where there is none. */
function listKey(story: Fields, names: readonly string[]): string {
  const [own] = names;
  if (Object.hasOwn(story, own!)) return own!;
  return names.find(name => Array.isArray(story[name]) && Object.hasOwn(story, name)) ?? own!;
}

function priorityOf(value: unknown): number {
  if (typeof value === 'number') return value;
  const word = typeof value === 'string' ? value.toLowerCase() : '';
  return Object.hasOwn(priorityWords, word) ? priorityWords[word]! : Number.POSITIVE_INFINITY;
}

function readStory(fields: JsonFields, mayLackCriteria: boolean): TaskSpec {
  return {
    id: fields.validId(fields.string('id')),
    title: fields.text('title', 'Give the story a short title.'),
    description: readDescription(fields),
    criteria: readCriteria(fields, mayLackCriteria),
    dependsOn: readDependencies(fields),
    done: fields.require('passes', 'Add "passes": false.').boolean('passes'),
    skipped: fields.boolean('skipped'),
    mayChangeTests: fields.boolean('mayChangeTests') || undefined,
  };
}

/** What earlier work found out stands in the notes; an agent needs it as much as the story. */
function readDescription(fields: JsonFields): string {
  const description = fields.optionalText('description');
  const key = notesNames.find(name => textOf(fields.value[name]).trim() !== '');
  if (key === undefined) return description;
  const notes = `Notes: ${fields.optionalText(key).trim()}`;
  return description.trim() === '' ? notes : `${description}\n\n${notes}`;
}

function readCriteria(fields: JsonFields, mayBeEmpty: boolean): readonly string[] {
  const key = listKey(fields.value, criteriaNames);
  const fix = `Add "${key}": [ … ], one verifiable sentence each.`;
  if (!mayBeEmpty) fields.require(key, fix);
  const entries = fields.list(key, fix);
  if (entries?.length === 0 && !mayBeEmpty) {
    const remedy = 'Add a criterion that can be verified, or run with --no-criteria.';
    fields.fail([key], 'is empty: how will we know it is done?', remedy);
  }
  return (entries ?? []).map((entry, row) => {
    // Some tools keep a status for each criterion beside its text.
    const text = isFields(entry) && typeof entry['description'] === 'string' ? entry['description'] : entry;
    if (typeof text !== 'string') {
      fields.wrong([key, row], 'text in double quotes', text, 'State what must be true.');
      return '';
    }
    if (text.trim() === '') fields.fail([key, row], 'is empty.', 'State what must be true.');
    return fields.watched(text, key, row);
  });
}

function readDependencies(fields: JsonFields): readonly string[] {
  const key = listKey(fields.value, dependencyNames);
  const ids = (fields.list(key, 'Write a list of ids.') ?? []).map((entry, row) => {
    if (typeof entry === 'string') return entry;
    fields.wrong([key, row], 'an id', entry, 'Write the id in quotes.');
    return '';
  });
  return [...new Set(ids)];
}
