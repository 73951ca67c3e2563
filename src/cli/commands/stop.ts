// `ralph stop`: ends a loop on purpose; a live iteration is stopped at once, claims already made are still checked.
import { type Context, steer, type Words } from '../context.ts';

export const execute = (context: Context, [name]: Words): Promise<number> => steer(context, name, { type: 'stop' });
