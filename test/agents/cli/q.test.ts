// Amazon Q's CLI through the contracts, by its documented output.
import { q } from '../../../src/agents/cli/q.ts';
import { cliAgentContract, plainText } from '../../contracts/cli-agent.ts';
import { plainChatContract } from '../../contracts/plain-agent.ts';

cliAgentContract(q, { notHere: plainText });
plainChatContract(q);
