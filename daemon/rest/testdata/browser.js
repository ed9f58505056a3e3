// Does the work of an administrator in Chromium: with the mouse and without scripts on the pages, or by
// keyboard alone. MODE=pages checks every page instead: its structure, and its width. It reads the
// address, the password and the URL that works from its environment, and writes the new API key to
// key.txt. If PICTURES names a directory, it stores a picture of each page there.
const fs = require('fs');
const { Keyboard, Mouse, check, expect, has, run } = require('./hand.js');
const { URL: base, PASSWORD, RIGHT, MODE, PATTERNS, PICTURES } = process.env;

async function work(browser) {
	const byMouse = MODE === 'mouse';
	const context = await browser.newContext({ javaScriptEnabled: !byMouse, acceptDownloads: true });
	const page = await context.newPage();
	const hand = byMouse ? new Mouse(page) : new Keyboard(page);
	// press follows a link or presses a button.
	const press = (name) => Promise.all([page.waitForEvent('load'), hand.use(name)]);

	await page.goto(base + '/');
	await hand.type('User name', 'admin');
	await hand.type('Password', PASSWORD);
	await press('Log in');
	await has(page, 'Webhooks, last hour');

	// Why do deliveries fail?
	await press('Messages');
	await press(/^↻ retrying$/);
	await press(/^retrying, message/);
	await has(page, '404 Not Found');
	await press('Why was it sent, or not?');
	await has(page, '404 Not Found');
	await press(/^Message [0-9a-f]/);

	// Repair the address.
	await press('Edit the subscription');
	await hand.type('Endpoint', RIGHT);
	await press('Save the subscription');
	await has(page, 'Saved.');

	// The waiting messages are delivered. Send them again.
	await press('Messages of this subscription');
	for (let i = 0; ; i++) {
		if ((await page.locator('tbody tr .good').count()) === 3) break;
		expect(i < 200, 'the messages are not delivered: ' + (await page.textContent('main')));
		await new Promise((done) => setTimeout(done, 100));
		await page.reload();
	}
	await press(/^Send again…/);
	await press('Send 3 messages again');
	await has(page, '3 messages are being sent again.');

	// Export all records.
	await press('Records');
	await press('SO_Totals');
	const [download] = await Promise.all([page.waitForEvent('download'), hand.use('XLSX')]);
	await download.saveAs('rows.xlsx');

	// Make a key.
	await press('whd');
	await press('API keys');
	await press('New key');
	await hand.type('Name', 'nightly');
	await hand.choose('Role', 'reader');
	await press('Create the key');
	await has(page, 'It is not shown again');
	fs.writeFileSync('key.txt', await page.textContent('pre'));
	await context.close();
}

// first are the parts of addresses that the test cannot know, with a page that links to them.
const first = {
	'{message}': ['/Pages/Messages', 'a[href^="/Pages/Messages/"]'],
	'{subscription}': ['/Pages/Subscriptions', 'a[href^="/Pages/Subscriptions/"]'],
	'{key}': ['/Pages/Keys', 'a[href$="/Revoke"]'],
	'{request}': ['/Logs?Take=5', 'a[href^="/Pages/Requests?Id="]'],
};

const paths = [
	'/Pages', '/Pages/Messages', '/Pages/Messages?Refresh=100', '/Pages/Messages?EventName=nothing',
	'/Pages/Messages?Until=soon', '{message}',
	'{message}/Retry', '{message}/Delete', '/Pages/AllMessages/Delete', '/Pages/AllMessages/Retry?EventName=nothing',
	'/Pages/Subscriptions', '{subscription}', '{subscription}/Edit', '{subscription}/Do/Rotate',
	'{subscription}/Do/Delete', '/Pages/Subscribers', '/Pages/Subscribers/1', '/Pages/Subscribers/New',
	'/Pages/Subscribers/1/Subscribe', '/Pages/Subscribers/1/Do/Delete', '/Pages/Why', '/Pages/Why?Key=D1',
	'/Pages/Users', '/Pages/Users/Do/New', '/Pages/Users/admin/Edit', '/Pages/Users/admin/Remove',
	'/Pages/Keys', '/Pages/Keys/Do/New', '{key}', '/Pages/Settings', '/Pages/Captures',
	'/Pages/Captures/SO_Totals/Resume', '/Pages/Kinds', '/Pages/OpenAPI', '/Queries/SO_Totals?Take=5',
	'/Queries/CR_Classification?Take=5', '/Queries/JB_EstimateResourceLines?Take=5',
	'/Queries/IN_Colours?GroupBy=StyleID&Include=COUNT(*)', '/Queries/SO_Totals?InvoiceTotalGreaterThan=1&Take=5',
	'/Pages/Records/SO_Totals?InvoiceID=00120', '/Logs?Take=5', '{request}', '/Webhooks/Messages?format=html&Take=5',
	'/Queries/Nothing', '/Queries/SO_Totals?Take=x', '/Users', '/metadata', '/metadata?op=AddSubscription',
	'/metadata?op=SO_TotalsQuery', '/docs', '/login',
];

// visit opens a page. Its address may start with one of first.
async function visit(page, path) {
	const [name] = path.match(/^\{\w+\}/) || [];
	if (name) {
		const [list, link] = first[name];
		await page.goto(base + list);
		path = (await page.locator(link).first().getAttribute('href')) + path.slice(name.length);
	}
	await page.goto(base + path);
}

// checkRefused checks a form that is shown again, with an input or a group of inputs that is marked.
async function checkRefused(page) {
	await page.goto(base + '/Pages/Subscribers/1/Subscribe');
	await page.fill('#in-URL', 'http://127.0.0.1:9/');
	await page.fill('#in-EventName', 'debtor.created');
	for (const [input, value, label] of [
		['input[name=WhereValue] >> nth=0', '5', 'Conditions'],
		['#in-MaxPerMinute', 'many', 'Attempts a minute, at most'],
	]) {
		await page.fill(input, value);
		await Promise.all([page.waitForEvent('load'), page.click('text=Add the subscription')]);
		await has(page, label + ' must');
		await check(page, `the form with an error of ${label}`);
		if (PICTURES) await page.screenshot({ path: `${PICTURES}/refused-${value}.png`, fullPage: true });
		await page.fill(input, '');
	}
}

// checkAll checks the pages in each size and scheme. Each of the patterns must be that of a page.
async function checkAll(browser) {
	const login = await browser.newPage({ bypassCSP: true });
	await login.goto(base + '/login');
	await login.fill('#user', 'admin');
	await login.fill('#password', PASSWORD);
	await Promise.all([login.waitForEvent('load'), login.click('main button')]);
	await login.goto(base + '/Pages/Keys/Do/New');
	await login.fill('#in-Name', 'nightly');
	await Promise.all([login.waitForEvent('load'), login.click('main button')]);
	await check(login, 'the page of a new key');
	if (PICTURES) await login.screenshot({ path: `${PICTURES}/key.png` });
	await checkRefused(login);
	const storageState = await login.context().storageState();

	const left = new Set(PATTERNS.split(' '));
	for (const width of [1280, 390]) for (const colorScheme of ['light', 'dark']) {
		const context = await browser.newContext({
			viewport: { width, height: 900 }, colorScheme, storageState, bypassCSP: true,
		});
		const page = await context.newPage();
		for (const [i, path] of paths.entries()) {
			await visit(page, path);
			const address = new URL(page.url()).pathname;
			for (const pattern of left) {
				if (new RegExp('^' + pattern.replace(/\{\w+\}/g, '[^/]+') + '$').test(address)) left.delete(pattern);
			}
			if (PICTURES) {
				const name = `${String(i).padStart(2, '0')}-${path.replace(/\W+/g, '-')}-${width}-${colorScheme}.png`;
				await page.screenshot({ path: `${PICTURES}/${name}`, fullPage: true });
			}
			await check(page, `${page.url()} at ${width}, ${colorScheme}`);
		}
		await context.close();
	}
	expect(left.size === 0, `no page was seen of ${[...left]}: add one to paths`);
}

run(MODE === 'pages' ? checkAll : work);
