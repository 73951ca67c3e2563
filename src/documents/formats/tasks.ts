// The tasks.json format of seed 002: an agent or a person lists tasks; read with defaults, marked without touching another byte.

import type { IndexedFormat } from '../indexed-format.ts';
import { parseJsonDocument } from '../json-document.ts';
import { indexTasks, markTasks, type TaskIndex } from './tasks-marks.ts';
import { readTasks } from './tasks-rules.ts';

export const projectTasks: IndexedFormat<TaskIndex> = {
  name: 'tasks',

  /** Also true for a broken document, so that its faults are told. An editor's tasks.json has none of the second keys. */
  recognises(fileName, text) {
    return (
      /\.json$/i.test(fileName) &&
      /"tasks"\s*:\s*\[/.test(text) &&
      /"(?:project_name"\s*:|max_attempts"\s*:|dependencies"\s*:\s*\[)/.test(text)
    );
  },

  parse(text) {
    return parseJsonDocument(text, 'tasks', readTasks);
  },

  mark(text, marks) {
    return markTasks(text, indexTasks(text), marks).text;
  },

  index: indexTasks,
  markWithIndex: markTasks,
};
