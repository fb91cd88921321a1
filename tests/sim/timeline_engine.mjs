// SPDX-License-Identifier: MIT
// timeline_engine.mjs NODE_MODULES TIMELINE - the trace engine of Chromium's developer tools reads
// the timeline, and finds each arrow whole: from a slice to the other slice of the same message.
import fs from 'node:fs';
import path from 'node:path';

// Made for browsers: it wants one class of theirs.
globalThis.DOMRect ??= class DOMRect {};
const [modules, file] = process.argv.slice(2);
const engine = path.resolve(modules, '@paulirish/trace_engine/models/trace/trace.js');
const { Flows } = (await import(engine)).Handlers.ModelHandlers;

const { traceEvents } = JSON.parse(fs.readFileSync(file, 'utf8'));
const messages = traceEvents.filter(e => e.ph === 's').length;
Flows.reset();
for (const e of traceEvents.filter(e => e.ph !== 'M').sort((a, b) => a.ts - b.ts)) {
	Flows.handleEvent(e);
}
await Flows.finalize();
const { flows } = Flows.data();
const whole = flows.filter(f => f.length === 2 && f[0].pid !== f[1].pid &&
	f[0].args.message === f[1].args.message);
console.log(`${file}: the trace engine finds ${whole.length} of ${messages} arrows whole`);
process.exit(whole.length === messages && flows.length === messages ? 0 : 1);
