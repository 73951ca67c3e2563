// How a loop that waited goes on, as a line that can be typed where that is known.
import type { State } from '../../core/state.ts';
import { planName } from '../../modes/plan/views/paths.ts';

export const goOnWords = ({ settings, projectId, document, directory }: State): string =>
  settings.mode === 'plan' && settings.performers.length === 0
    ? `ralph plan run ${planName(document, directory, projectId)}`
    : 'the same command as before, with its agent';
