// Reads records with DevExtreme's ODataStore: sorted, filtered, by pages, with a count, and one
// by its key. It prints a line for each: the name, the keys of a page, and the number of all rows.
// Arguments: as for generated.js.
process.env.TZ = 'UTC'; // DevExtreme sends a date in the local time zone as if it were in UTC
const ODataStore = require('devextreme/cjs/common/data/odata/store').default;
const DataSource = require('devextreme/cjs/common/data').DataSource ?? require('devextreme/cjs/common/data/data_source').default;
const ajax = require('devextreme/cjs/core/utils/ajax').default;
const { Deferred } = require('devextreme/cjs/core/utils/deferred');

const [, , url, authorization] = process.argv;
ajax.inject({ // Node.js has no XMLHttpRequest
  sendRequest({ url, method, params, data, headers }) {
    const result = Deferred();
    const query = new URLSearchParams(Object.entries({ ...params, ...data }).filter(([, v]) => v !== undefined)).toString();
    fetch(url + (query ? (url.includes('?') ? '&' : '?') + query : ''), { method, headers: { ...headers, Authorization: authorization } })
      .then(async r => (r.ok ? result.resolve(await r.json(), 'success', {}) : result.reject({ status: r.status, responseText: await r.text() }, 'error')))
      .catch(e => result.reject({ status: 0, responseText: String(e) }, 'error'));
    return result.promise();
  },
});
const store = (kind, key, keyType, options) => new ODataStore({ version: 4, url: `${url}/odata/${kind}`, key, keyType, ...options });
const load = source => new Promise((ok, no) => source.load().then(ok, no));
const print = (name, rows, count) => console.log(JSON.stringify({ name, count, keys: rows.map(row => row.InvoiceID) }));

(async () => {
  const totals = store('SO_Totals', 'InvoiceID', 'String');
  const source = new DataSource({
    store: totals, requireTotalCount: true, paginate: true, pageSize: 20, sort: [{ selector: 'InvoiceTotal', desc: true }, 'InvoiceID'],
    filter: [[['InvoiceID', 'startswith', 'd10'], 'or', ['InvoiceID', 'startswith', 'd11']], 'and', ['!', ['InvoiceTotal', '<=', 100]]], select: ['InvoiceID', 'InvoiceTotal'],
  });
  for (const [index, name] of ['first page', 'second page'].entries()) {
    source.pageIndex(index);
    print(name, await load(source), source.totalCount());
  }
  print('count of nulls', [], await new Promise((ok, no) => totals.totalCount({ filter: ['Cartage3Total', '=', null] }).then(ok, no)));
  print('key', [await new Promise((ok, no) => totals.byKey('00120').then(ok, no))]);
  const all = await new Promise((ok, no) => totals.load({ filter: ['InvoiceTotal', '>=', 0], select: ['InvoiceID'] }).then(ok, no));
  print('all pages', [], all.length); // more than a page: it follows the next links
  const documents = store('CR_BatchTransDocuments', 'RecID', 'String', { fieldTypes: { LastSavedDateTime: 'DateTimeOffset' } });
  const saved = await new Promise((ok, no) => documents.load({ filter: ['LastSavedDateTime', '>=', new Date('2024-12-31T13:00:00Z')] }).then(ok, no));
  print('dates', [], saved.length);
})().catch(e => { console.error(e); process.exit(1); });
