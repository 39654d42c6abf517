// Prints which Go tests failed and the first lines that each said, from the reports of
// `go test -json`: the output of a long run is often cut in its middle, never at its end.
//
//   node scripts/culprits.mjs test-results/*.json
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

const most = 6; // lines of one test
const wide = 240;
const tests = 12; // of one run: the first fault is often that of all

for (const file of process.argv.slice(2)) {
  const said = new Map();
  const running = new Set();
  let told = 0;
  const tell = (name) => {
    const lines = said.get(name) ?? [];
    if (lines.length > 0 && told++ < tests) console.log([`    ${name}`, ...lines.map((line) => `      ${line}`)].join('\n'));
  };
  for await (const line of createInterface({ input: createReadStream(file) })) {
    let event;
    try {
      event = JSON.parse(line);
    } catch {
      continue; // the last line of a run that was ended
    }
    const { Action: action, Package: pkg = '', Test: test = '', Output: output = '' } = event;
    const name = `${pkg.split('/').slice(3).join('/')} ${test}`.trim();
    const text = output.trim();
    if (action === 'output' && text && !/^(=== |time=|--- |at |FAIL\b|ok\b|PASS$)/.test(text)) {
      const kept = said.get(name) ?? [];
      if (kept.length < most) said.set(name, [...kept, text.slice(0, wide)]);
    }
    if (action === 'fail') tell(name);
    if (['pass', 'fail', 'skip'].includes(action)) running.delete(name);
    if (['pass', 'fail', 'skip', 'run'].includes(action)) said.delete(name);
    if (action === 'run') running.add(name);
  }
  for (const name of running) {
    console.log(`    ${name}: never ended`);
    tell(name);
  }
}
