// The official JavaScript SDK, unchanged, where the agents are the real CLIs. The twin
// of real.py.
import { artifactCases } from './artifacts.mjs';
import { run } from './check.mjs';
import { handlers } from './handlers.mjs';

await run({ ...artifactCases, ...handlers });
