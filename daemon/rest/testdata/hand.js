// Shared parts of the scripts for Chromium: a keyboard and a mouse that find elements by the names that
// users see, and checks of pages.
const fs = require('fs');
const { chromium } = require('playwright-core');

function expect(ok, text) { if (!ok) throw new Error(text); }

// nameOf returns the text of an element for users.
const nameOf = `((e) => {
	const label = e.labels && e.labels.length ? e.labels[0].textContent : '';
	return (e.getAttribute('aria-label') || label || e.textContent || '').replace(/\\s+/g, ' ').trim();
})`;

function isNamed(found, name) { return name instanceof RegExp ? name.test(found) : found === name; }

// Keyboard reaches elements with Tab.
class Keyboard {
	constructor(page) { this.page = page; }

	async focus(name) {
		for (let i = 0; i < 400; i++) {
			await this.page.keyboard.press('Tab');
			if (isNamed(await this.page.evaluate(`${nameOf}(document.activeElement)`), name)) return;
		}
		throw new Error(`no element ${name} on ${this.page.url()}`);
	}

	async use(name) {
		await this.focus(name);
		await this.page.keyboard.press('Enter');
	}

	async type(name, text) {
		await this.focus(name);
		await this.page.keyboard.press('Control+A');
		await this.page.keyboard.type(text);
	}

	async choose(name, text) {
		await this.focus(name);
		await this.page.keyboard.press(text[0]);
	}
}

// Mouse clicks.
class Mouse {
	constructor(page) { this.page = page; }

	async find(name) {
		for (const part of ['main', 'body']) {
			const all = this.page.locator(['a', 'button', 'input', 'select', 'summary'].map((tag) => `${part} ${tag}`).join());
			const names = await all.evaluateAll(new Function('list', `return list.map(${nameOf})`));
			const i = names.findIndex((found) => isNamed(found, name));
			if (i >= 0) return all.nth(i);
		}
		throw new Error(`no element ${name} on ${this.page.url()}`);
	}

	async use(name) { await (await this.find(name)).click(); }

	async type(name, text) { await (await this.find(name)).fill(text); }

	async choose(name, text) { await (await this.find(name)).selectOption(text); }
}

async function has(page, text) {
	const content = await page.textContent('main');
	expect(content.includes(text), `${page.url()} lacks "${text}": ${content.slice(0, 2000)}`);
}

const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

// check looks for mistakes in the structure of a page and for parts that are too wide.
async function check(page, where) {
	const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
	expect(over <= 0, `${where} is ${over} pixels too wide`);
	await page.evaluate(axe);
	const result = await page.evaluate(() => axe.run(document, { resultTypes: ['violations'] }));
	expect(result.violations.length === 0, `${where}: ` + JSON.stringify(result.violations
		.map((v) => [v.id, v.nodes.map((n) => n.html)])));
}

// run starts Chromium for some work. The process fails if the work does.
async function run(work) {
	const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] });
	try {
		await work(browser);
	} catch (err) {
		console.error(err);
		process.exitCode = 1;
	} finally {
		await browser.close();
	}
}

module.exports = { Keyboard, Mouse, check, expect, has, run };
