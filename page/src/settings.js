// SPDX-License-Identifier: MIT
/* settings.js - what the answer rests on: model, settings, traces; and what was left out, with the reason */
import { h, name, shown, short, table } from './dom.js';
import { count, instant, span } from './format.js';

const OUTLIERS = 50;

const MODELS = {
	wander: (m) => `wander: the rate of each clock stays within ${m.ppm} ppm of a constant`,
	linear: () => 'linear: every clock has one constant rate',
	segments: (m) => `segments: one rate for ${m.duration_ns === 'auto' || m.duration_ns === null ? 'as long as one fits' : span(m.duration_ns)}`,
};

export function settings(data) {
	const { answer, json } = data;
	const { model } = answer;
	const entry = (term, ...what) => [h('dt', null, term), h('dd', null, ...what)];
	/* of the clocks, or, in answers that do not say it of clocks, of the pairs */
	const ofClocks = answer.clocks.some((c) => c.wander?.used_ppm > 0);
	const wide = (ofClocks ? answer.clocks : answer.pairs).filter((p) => p.wander && p.wander.used_ppm > p.wander.assumed_ppm);
	const whose = (p) => (ofClocks ? short(p.name, 30) : `${short(p.a, 30)} and ${short(p.b, 30)}`);
	const disturbed = answer.clocks.filter((c) => c.disturbed?.length);
	const rows = (answer.traces ?? []).map((t) => [name(t.path, 60), t.clock === null ? '-' : name(t.clock), t.kind, count(t.events), t.truncated ? 'cut short' : 'whole']);
	return h('section', { id: 'settings', 'aria-labelledby': 'settings-h' },
		h('h2', { id: 'settings-h' }, 'Assumptions and settings'),
		h('dl', null,
			entry('Model', (MODELS[model.name] ?? (() => model.name))(model)),
			wide.length ? entry('Rates that vary more than assumed', ...wide.slice(0, 20).map((p) => h('div', null, `${whose(p)}: within ${p.wander.used_ppm} ppm (${p.wander.assumed_ppm} assumed, ${p.wander.needed_ppm} needed)`)),
				wide.length > 20 ? `and ${count(wide.length - 20)} more` : null) : [],
			disturbed.length ? entry('Disturbed stretches', ...disturbed.slice(0, 20).map((c) => h('div', null, `${short(c.name, 30)}: ${count(c.disturbed.length)}, around steps or slews; only the skew limit bounds the rate there`)),
				disturbed.length > 20 ? `and ${count(disturbed.length - 20)} more` : null) : [],
			entry('Skew limit', `${model.max_skew_ppm} ppm between any two clocks`),
			entry('Minimum delay', model.min_delay === '0' ? 'none assumed: 0 ns' : `${shown(model.min_delay)}; points are drawn without it`),
			entry('Estimator', answer.method),
			entry('Many clocks', `${answer.solve.name}, by ${answer.solve.how}`),
			entry('Islands', (answer.islands ?? []).map((i) => `${count(i.clocks.length)} clock${i.clocks.length === 1 ? '' : 's'} on ${short(i.reference ?? '-', 40)}`).join('; ')),
			entry('Command', h('code', null, shown(json.command.join(' ')).slice(0, 4000)))),
		h('h3', null, 'Traces'),
		table({ caption: 'Traces', heading: ['Path', 'Clock', 'Kind', 'Events', 'State'], right: [3], rows }));
}

const REASONS = [
	['unmatched', 'captured on one side only'], ['expired', 'no partner within the matching window'],
	['ambiguous', 'several partners are possible, so none is used'], ['direction_unknown', 'the captures do not show who sent them; --local helps'],
	['outliers', 'they contradict the other messages'], ['fragments', 'fragments'], ['not_ip', 'not IP'],
	['loopback', 'never left their host'], ['cut_short', 'the snap length cut off what identifies them'],
];

function contradicting(data) {
	const rows = [];
	let n = 0;
	for (const p of data.answer.pairs) {
		for (const [list, why] of [[p.outliers, 'outlier, ignored'], [p.contradiction, 'contradicts others']]) {
			for (const m of list ?? []) {
				if (n++ < OUTLIERS) {
					rows.push([name(m.sender, 24), name(m.receiver, 24), instant(BigInt(m.sent_ns)), instant(BigInt(m.received_ns)), span(m.excess_ns), why]);
				}
			}
		}
	}
	return rows.length ? [h('h3', null, n > OUTLIERS ? `${OUTLIERS} of ${count(n)} messages that contradict the others` : 'Messages that contradict the others'),
		table({ caption: 'Outliers', heading: ['Sender', 'Receiver', 'Sent', 'Received', 'Excess', ''], right: [4], rows })] : [];
}

export function leftOut(data) {
	const n = data.answer.messages;
	const rows = REASONS.filter(([key]) => n[key]).map(([key, why]) => [key.replace('_', ' '), count(n[key]), why]);
	/* Those that the plain answer has are said once. */
	const notes = document.getElementById('unskew-notes') ? [] : [...(data.answer.notes ?? []), ...(data.json.notes ?? [])];
	return h('section', { id: 'left-out', 'aria-labelledby': 'left-out-h' },
		h('h2', { id: 'left-out-h' }, 'What was not used'),
		h('p', null, `${count(n.matched)} messages were matched${rows.length ? '; these were not used:' : ', and all were used.'}`),
		rows.length ? table({ caption: 'Not used', heading: ['What', 'Messages', 'Why'], right: [1], rows }) : [],
		contradicting(data),
		notes.length ? h('ul', { class: 'plain' }, notes.map((text) => h('li', null, shown(text)))) : []);
}
