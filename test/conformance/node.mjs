// Runs the checks in Node: node node.mjs <url> <transport> <control url> [part of a check's name]
import { run } from './checks.mjs';

const [url, transport, control, filter] = process.argv.slice(2);
const results = await run({ url, transport, browser: false, filter, control: async (command) => (await fetch(`${control}/${command}`)).text() });
for (const r of results) console.log(JSON.stringify(r));
process.exit(0);
