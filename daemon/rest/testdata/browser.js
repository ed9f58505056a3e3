// Does the work of an administrator in Chromium, without scripts on the pages and by keyboard alone,
// and then checks every page. It reads the address, the password and the URL that works from its
// environment, and prints the new API key.
const fs = require('fs');
const { chromium } = require('playwright-core');
const { URL: base, PASSWORD, RIGHT, CHROMIUM } = process.env;

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

async function work(browser) {
	const context = await browser.newContext({ javaScriptEnabled: false, acceptDownloads: true });
	const page = await context.newPage();
	await page.goto(base + '/');
	await type(page, 'User name', 'admin');
	await type(page, 'Password', PASSWORD);
	await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
	await has(page, 'Webhooks, last hour');

	// Why do deliveries fail? Repair the address.
	await press(page, 'Messages');
	await press(page, /^↻ retrying$/);
	await press(page, /^retrying, message/);
	await has(page, '404 Not Found');
	await press(page, 'Edit the subscription');
	await type(page, 'Endpoint', RIGHT);
	await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
	await has(page, 'Saved.');

	// The waiting messages are delivered. Send them again.
	await press(page, 'Messages of this subscription');
	for (let i = 0; ; i++) {
		if ((await page.locator('tbody tr .good').count()) === 3) break;
		expect(i < 200, 'the messages are not delivered: ' + (await page.textContent('main')));
		await new Promise((done) => setTimeout(done, 100));
		await page.reload();
	}
	await press(page, 'Send again…');
	await press(page, 'Send 3 messages again');
	await has(page, '3 messages are being sent again.');

	// Export all records.
	await press(page, 'Records');
	await press(page, 'SO_Totals');
	await focus(page, 'XLSX');
	const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
	await download.saveAs('rows.xlsx');

	// Make a key.
	await press(page, 'whd');
	await press(page, 'API keys');
	await press(page, 'New key');
	await type(page, 'Name', 'nightly');
	await focus(page, 'Role');
	await page.keyboard.press('r');
	await press(page, 'Create the key');
	fs.writeFileSync('key.txt', await page.textContent('pre'));
	const state = await context.storageState();
	await context.close();
	return state;
}

// check looks at the pages in each size and scheme, and for mistakes in their structure.
async function check(browser, storageState) {
	const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
	for (const width of [1280, 390]) for (const colorScheme of ['light', 'dark']) {
		const context = await browser.newContext({
			viewport: { width, height: 900 }, colorScheme, storageState, bypassCSP: true,
		});
		const page = await context.newPage();
		const first = {};
		for (const path of [
			'/Pages', '/Pages/Messages', '/Pages/Messages?Refresh=100', 'message', '/Pages/AllMessages/Delete',
			'/Pages/Subscriptions', 'subscription', '/Pages/Subscribers', '/Pages/Subscribers/1',
			'/Pages/Subscribers/New', '/Pages/Subscribers/1/Subscribe', '/Pages/Why?Key=D1', '/Pages/Users',
			'/Pages/Users/Do/New', '/Pages/Keys', '/Pages/Settings', '/Pages/Captures', '/Pages/Kinds',
			'/Queries/SO_Totals?Take=5', '/Pages/Records/SO_Totals?InvoiceID=00120', '/Logs?Take=5',
			'/Queries/Nothing', '/metadata', '/metadata?op=AddSubscription', '/login',
		]) {
			await page.goto(base + (first[path] || path));
			for (const kind of ['message', 'subscription']) {
				const link = page.locator(`tbody a[href^="/Pages/${kind[0].toUpperCase() + kind.slice(1)}s/"]`);
				if (!first[kind] && (await link.count())) first[kind] = await link.first().getAttribute('href');
			}
			const where = `${page.url()} at ${width}, ${colorScheme}`;
			const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
			expect(over <= 0, `${where} is ${over} pixels too wide`);
			await page.evaluate(axe);
			const result = await page.evaluate(() => axe.run(document, { resultTypes: ['violations'] }));
			expect(result.violations.length === 0, `${where}: ` + JSON.stringify(result.violations
				.map((v) => [v.id, v.nodes.map((n) => n.html)])));
		}
		await context.close();
	}
}

(async () => {
	const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
	try {
		await check(browser, await work(browser));
	} finally {
		await browser.close();
	}
})().catch((err) => { console.error(err); process.exit(1); });
