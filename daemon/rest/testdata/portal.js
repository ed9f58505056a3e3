// Does the work of a subscriber in Chromium by keyboard alone, with scripts and without, and then checks
// every page of the portal. It reads its link and the address of its endpoint from its environment. With
// PICTURES, a directory, it saves pictures of the pages there.
const { Keyboard, check, expect, has, run } = require('./hand.js');
const { URL: base, LINK, HOOK, PICTURES } = process.env;
const portal = base + '/Webhooks/Portal';

// press follows a link or presses a button.
function press(page, name) {
	return Promise.all([page.waitForEvent('load'), new Keyboard(page).use(name)]);
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
	const keyboard = new Keyboard(page);
	await keyboard.type('Endpoint', HOOK);
	await keyboard.type('Event', 'debtor.created');
	await press(page, 'Add the subscription');
	await has(page, 'Added.');
	const first = await secretOf(page);

	// Send a test, and see the attempt.
	await press(page, /^Test…/);
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

// checkAll looks at the pages in each size and scheme.
async function checkAll(browser, storageState) {
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
			await check(page, `${page.url()} at ${width}, ${colorScheme}`);
		}
		await context.close();
		await stranger.close();
	}
}

run(async (browser) => {
	const withScripts = await work(browser, true);
	await checkAll(browser, withScripts.state);
	await leave(withScripts.page);
	const withoutScripts = await work(browser, false);
	await leave(withoutScripts.page);
});
