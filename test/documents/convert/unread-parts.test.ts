import { expect, it } from 'vitest';
import { unreadParts } from '../../../src/documents/convert/losses.ts';

it('given a checklist of nothing but its title and its items, then nothing is left unread', () => {
  expect(unreadParts('checklist', '# A\n\n- [ ] one\n')).toEqual([]);
});
