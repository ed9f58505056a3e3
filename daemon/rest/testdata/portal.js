// Does the work of a subscriber in Chromium by keyboard alone, with scripts and without, and then checks
// every page of the portal. It reads its link and the address of its endpoint from its environment. With
// PICTURES, a directory, it saves pictures of the pages there.
const fs = require('fs');
const { chromium } = require('playwright-core');
const { URL: base, LINK, HOOK, CHROMIUM, PICTURES } = process.env;
const portal = base + '/Webhooks/Portal';

function expect(ok, text) { if (!ok) throw new Error(text); }

// focus presses Tab until an element with the name has the focus.
async function focus(page, name) {
	for (let i = 0; i < 400; i++) {
		await page.keyboard.press('Tab');
		const found = await page.evaluate(() => {
			const e = document.activeElement;
			const label = e.labels && e.labels.length ? e.labels[0].textContent : '';
			return (e.getAttribute('aria-label') || label || e.textContent || '').replace(/\s+/g, ' ').trim();
		});
		if (name instanceof RegExp ? name.test(found) : found === name) return;
	}
	throw new Error(`no element ${name} on ${page.url()}`);
}

// press follows a link or presses a button.
async function press(page, name) {
	await focus(page, name);
	await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
}

// type replaces the value of an input.
async function type(page, name, text) {
	await focus(page, name);
	await page.keyboard.press('Control+A');
	await page.keyboard.type(text);
}

async function has(page, text) {
	const content = await page.textContent('main');
	expect(content.includes(text), `${page.url()} lacks "${text}": ${content.slice(0, 2000)}`);
}

// inspect looks for mistakes in the structure of a page, and for content that is too wide.
async function inspect(page, how) {
	const where = `${page.url()} at ${how}`;
	const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
	expect(over <= 0, `${where} is ${over} pixels too wide`);
	await page.evaluate(fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8'));
	const result = await page.evaluate(() => axe.run(document, { resultTypes: ['violations'] }));
	expect(result.violations.length === 0, `${where}: ` + JSON.stringify(result.violations
		.map((v) => [v.id, v.nodes.map((n) => n.html)])));
}

// secretOf returns the secret on a page, which shows it once.
async function secretOf(page) {
	const secret = await page.textContent('pre');
	expect(/^whsec_/.test(secret), `${page.url()} shows no secret: ${secret}`);
	return secret;
}

async function work(browser, javaScriptEnabled) {
	const context = await browser.newContext({ javaScriptEnabled });
	const page = await context.newPage();
	const addresses = [];
	await page.goto(LINK);
	await has(page, 'Page of Acme');
	page.on('framenavigated', (frame) => addresses.push(frame.url()));
	await press(page, 'Open the page of Acme');
	await has(page, 'Subscriptions');

	// Subscribe.
	await press(page, 'New subscription');
	await type(page, 'Endpoint', HOOK);
	await type(page, 'Event', 'debtor.created');
	await press(page, 'Add the subscription');
	await has(page, 'Added.');
	const first = await secretOf(page);

	// Send a test, and see the attempt.
	await press(page, 'Test…');
	await press(page, 'Send a test');
	for (let i = 0; !(await page.textContent('main')).includes('200 OK'); i++) {
		expect(i < 200, 'the test is not delivered: ' + (await page.textContent('main')));
		await new Promise((done) => setTimeout(done, 100));
		await page.reload();
	}
	await has(page, 'Attempt 1');
	await has(page, 'delivered');

	// Replace the secret.
	await press(page, 'Its subscription');
	await has(page, 'not failing');
	await press(page, 'Replace the secret…');
	await press(page, 'Replace the secret');
	const second = await secretOf(page);
	expect(first !== second, 'the secret has not been replaced');
	await page.goto(page.url().replace('/Do/Rotate', ''));
	expect(!(await page.textContent('main')).includes('whsec_'), 'the secret is shown again');

	const state = await context.storageState();
	const id = new URL(LINK).searchParams.get('SubscriberID');
	expect(!addresses.some((a) => a.includes(id)), 'an address has the SubscriberID: ' + addresses);
	return { context, page, state };
}

// leave ends the session by its button.
async function leave(page) {
	await press(page, 'Leave');
	await has(page, 'You have left the pages.');
	await page.goto(portal + '/Subscriptions');
	await has(page, 'Open your page');
}

// check looks at the pages in each size and scheme.
async function check(browser, storageState) {
	for (const width of [1280, 390]) for (const colorScheme of ['light', 'dark']) {
		const context = await browser.newContext({
			viewport: { width, height: 900 }, colorScheme, storageState, bypassCSP: true,
		});
		const stranger = await browser.newContext({ viewport: { width, height: 900 }, colorScheme, bypassCSP: true });
		const inside = await context.newPage();
		const outside = await stranger.newPage();
		await inside.goto(portal + '/Subscriptions');
		const subscription = base + (await inside.locator('tbody a').first().getAttribute('href'));
		await inside.goto(portal + '/Messages');
		const message = base + (await inside.locator('tbody a').first().getAttribute('href'));
		for (const [name, page, url] of [
			['entry', outside, portal],
			['offer', outside, LINK],
			['refused', outside, portal + '/Open?SubscriberID=x'],
			['ended', outside, portal + '?Note=Ended'],
			['subscriptions', inside, portal + '/Subscriptions'],
			['subscribe', inside, portal + '/Subscribe'],
			['subscription', inside, subscription],
			['edit', inside, subscription + '/Edit'],
			['rotate', inside, subscription + '/Do/Rotate'],
			['delete', inside, subscription + '/Do/Delete'],
			['messages', inside, portal + '/Messages'],
			['none', inside, portal + '/Messages?Status=3&EventName=nothing'],
			['message', inside, message],
			['retry', inside, message + '/Do/Retry'],
			['missing', inside, portal + '/nothing'],
		]) {
			await page.goto(url);
			if (PICTURES) await page.screenshot({ path: `${PICTURES}/${name}-${width}-${colorScheme}.png`, fullPage: true });
			await inspect(page, `${width}, ${colorScheme}`);
		}
		await context.close();
		await stranger.close();
	}
}

(async () => {
	const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
	try {
		const withScripts = await work(browser, true);
		await check(browser, withScripts.state);
		await leave(withScripts.page);
		const withoutScripts = await work(browser, false);
		await leave(withoutScripts.page);
	} finally {
		await browser.close();
	}
})().catch((err) => { console.error(err); process.exit(1); });
