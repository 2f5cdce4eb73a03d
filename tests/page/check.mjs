// The checks of tests/page/run.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [work, option] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});

async function open(file, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const wrong = [];
  page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
  page.on("pageerror", (error) => wrong.push(String(error)));
  const url = pathToFileURL(`${work}/${file}`).href;
  page.on("request", (request) => request.url() !== url && wrong.push(`a request to ${request.url()}`));
  await page.goto(url);
  return { page, wrong, close: () => context.close() };
}

const rows = async (name) => {
  const lines = (await readFile(`${work}/run/${name}`, "utf8")).trim().split("\n").map((line) => line.split(","));
  const [columns, ...cells] = lines;
  return cells.map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index]])));
};
const summary = await rows("summary.csv");
const strategies = summary.map((row) => row.strategy);
const { page, wrong, close } = await open("run/report.html");

// Charts: each is drawn, with a line or a bar for each strategy that can be seen.
const charts = page.locator("figure svg");
assert.ok((await charts.count()) >= 6, "charts");
for (const name of ["appended", "log", "bumps", "causes", "delays", "records"]) {
  const chart = page.locator(`svg:has(#run-0-${name}-title)`);
  for (const strategy of strategies) {
    const series = chart.locator(`[data-series="${strategy}"]`).first();
    if (name === "delays" && (await series.locator("path").count()) === 0) continue;
    const box = await series.boundingBox();
    assert.ok(box && box.width > 5 && box.height > 0, `${strategy} in ${name}`);
  }
  assert.ok(await chart.getAttribute("aria-labelledby"), name);
}

// The table has the numbers of summary.csv, and sorts by a click and by a key, both ways.
const table = page.locator("table.sorts").first();
const column = async (name) => {
  const index = (await table.locator("thead th").allTextContents()).indexOf(name);
  return table.locator(`tbody td:nth-child(${index + 1})`).allTextContents();
};
const number = (text) => Number(text.replaceAll(",", ""));
assert.deepEqual((await column("appended_bytes")).map(number), summary.map((row) => Number(row.appended_bytes)));
const head = table.getByRole("button", { name: "appended_bytes" });
const sorted = summary.map((row) => Number(row.appended_bytes)).sort((a, b) => a - b);
await head.click();
assert.deepEqual((await column("appended_bytes")).map(number), [...sorted].reverse());
await head.press("Enter");
assert.deepEqual((await column("appended_bytes")).map(number), sorted);
assert.equal(await table.locator("th[aria-sort=ascending]").count(), 1);

// A strategy is switched off everywhere, and on again, by the keyboard too.
const box = page.getByRole("checkbox", { name: "full-map" });
await box.focus();
await page.keyboard.press("Space");
const line = page.locator('svg:has(#run-0-appended-title) [data-series="full-map"]').first();
assert.equal(await line.isVisible(), false);
assert.equal(await table.locator('tr[data-series="full-map"]').isVisible(), false);
assert.ok(!(await page.locator(".bumps tbody").innerText()).includes("full-map"));
await page.keyboard.press("Space");
assert.equal(await line.isVisible(), true);

// Values where somebody points, and by keys: at the end those of the files.
const figure = page.locator("figure[data-hover]").first();
await figure.hover({ position: { x: 300, y: 150 } });
const said = figure.locator(".values");
assert.match(await said.innerText(), /^[\d.]+ (s|min): full-map [\d.]+ kB · /);
await figure.focus();
for (let step = 0; step < 90; step += 1) await page.keyboard.press("ArrowRight");
const last = Number(summary[0].appended_bytes) / 1000;
assert.ok((await said.innerText()).startsWith(`10 min: full-map ${last.toFixed(2).replace(/\.?0+$/, "")} kB`), await said.innerText());

// From a bump to its cause.
await page.locator('.bumps select[name="kind"]').selectOption("topics");
await page.locator('.bumps select[name="strategy"]').selectOption("cached-hash");
const bumps = (await rows("bumps.csv")).filter((row) => row.strategy === "cached-hash" && row.cause.includes("refresh"));
assert.equal(await page.locator(".bumps .count").innerText(), `${bumps.length} bumps`);
const first = page.locator(".bumps tbody tr:not(.why) button").first();
await first.focus();
await page.keyboard.press("Enter");
const why = await page.locator(".bumps .why").innerText();
for (const part of ["is published", "is not as the group has stored it", "notices", "epoch goes from", "Written with that"]) {
  assert.ok(why.includes(part), `${part}: ${why}`);
}
assert.equal(await first.getAttribute("aria-expanded"), "true");
await page.keyboard.press("Enter");
assert.equal(await page.locator(".bumps .why").count(), 0);

// Everything that can be used has a name.
const nameless = await page.evaluate(() =>
  [...document.querySelectorAll("button, input, select, figure[tabindex], [role=region], svg, table")]
    .filter((element) => !element.hidden)
    .filter((element) => {
      const labels = element.getAttribute("aria-label") || element.getAttribute("aria-labelledby");
      return !labels && !element.labels?.length && !element.textContent.trim();
    })
    .map((element) => element.outerHTML.slice(0, 120)));
assert.deepEqual(nameless, []);
const ids = await page.evaluate(() => [...document.querySelectorAll("[id]")].map((element) => element.id));
assert.equal(new Set(ids).size, ids.length, "an id occurs twice");
assert.deepEqual(wrong, []);
await close();

// Several runs, and a narrow window: nothing is wider than it.
const both = await open("both.html", { viewport: { width: 360, height: 800 } });
assert.equal(await both.page.locator("article").count(), 2);
const width = await both.page.evaluate(() => document.documentElement.scrollWidth);
assert.ok(width <= 360, `${width} pixels wide`);
assert.deepEqual(both.wrong, []);
await both.close();

if (option === "--images") {
  for (const [name, options] of [
    ["light", { colorScheme: "light" }],
    ["dark", { colorScheme: "dark" }],
    ["narrow", { colorScheme: "light", viewport: { width: 390, height: 1400 } }],
  ]) {
    const shot = await open("run/report.html", { viewport: { width: 1100, height: 1400 }, ...options });
    await shot.page.screenshot({ path: `docs/images/report-${name}.png` });
    await shot.close();
  }
}
await browser.close();
console.log("the page is right");
