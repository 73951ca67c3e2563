// Kiro's CLI through the contracts, by its documented output.
import { kiro } from '../../../src/agents/cli/kiro.ts';
import { cliAgentContract } from '../../contracts/cli-agent.ts';
import { plainChatContract } from '../../contracts/plain-agent.ts';

cliAgentContract('kiro');
plainChatContract(kiro);
