// Kiro's CLI through the contracts, by its documented output.
import { kiro } from '../../../src/agents/cli/kiro.ts';
import { cliAgentContract, plainText } from '../../contracts/cli-agent.ts';
import { plainChatContract } from '../../contracts/plain-agent.ts';

cliAgentContract(kiro, { notHere: plainText });
plainChatContract(kiro);
