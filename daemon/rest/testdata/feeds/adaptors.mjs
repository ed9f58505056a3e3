// Reads records with Syncfusion's data manager, with o.js, and with a query of odata-query, and
// prints a line for each: the name, the number of all rows, and the keys of a page.
// Arguments: as for generated.js.
import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);
const [, , url, authorization] = process.argv;
const headers = { Authorization: authorization };
const print = (name, rows, count) => console.log(JSON.stringify({ name, count, keys: rows.map(row => row.InvoiceID ?? row.RecID) }));

globalThis.window = Object.assign(globalThis, { addEventListener() {} }); // Node.js has none
const { DataManager, ODataV4Adaptor, Predicate, Query } = require('@syncfusion/ej2-data');
const manager = kind => new DataManager({ url: `${url}/odata/${kind}`, adaptor: new ODataV4Adaptor(), crossDomain: true, headers: [headers] });
const load = async (name, kind, query) => {
  const { result, count } = await manager(kind).executeQuery(query.requiresCount());
  print(name, result, count);
};
await load('syncfusion page', 'SO_Totals', new Query().sortByDesc('InvoiceTotal').page(2, 20));
await load('syncfusion filter', 'SO_Totals', new Query().where(new Predicate('InvoiceTotal', 'greaterthan', 24000).and('InvoiceID', 'startswith', 'd10')).sortBy('InvoiceID').take(50));
await load('syncfusion search', 'IN_Colours', new Query().where('Description', 'contains', 'e', true).sortBy('RecID').take(30).select(['RecID', 'Description']));

const { o } = require('o.js');
const handler = o(`${url}/odata/`, { headers, referrer: undefined }); // its default is for browsers
print('o.js rows', await handler.get('SO_Totals').query({ $top: 20, $orderby: 'InvoiceID', $filter: 'InvoiceTotal lt 100' }));
print('o.js key', [await handler.get("SO_Totals('00120')").query()]);

const { default: buildQuery } = await import('odata-query');
const read = async (name, kind, query) => {
  const reply = await fetch(`${url}/odata/${kind}${buildQuery(query)}`, { headers });
  const page = await reply.json();
  if (!reply.ok) throw new Error(JSON.stringify(page));
  print(name, page.value, page['@odata.count']);
};
await read('odata-query in', 'SO_Totals', { filter: { InvoiceID: { in: ['00120', 'D100001', 'none'] } }, orderBy: ['InvoiceID'], count: true });
await read('odata-query or', 'SO_Totals', { filter: { or: [{ InvoiceTotal: { lt: 50 } }, { InvoiceTotal: { gt: 24500 } }], not: { Cartage3Total: null } }, select: ['InvoiceID'], orderBy: 'InvoiceID desc', top: 30, count: true });
await read('odata-query text', 'IN_Colours', { filter: { Description: { contains: "e" } }, top: 10, orderBy: ['RecID'], count: true });
