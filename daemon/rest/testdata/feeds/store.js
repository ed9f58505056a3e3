// Reads records with DevExtreme's ODataStore: sorted, filtered, by pages, with a count, and one
// by its key. It prints a line for each. Arguments: as for generated.js.
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
const print = value => console.log(JSON.stringify(value));

(async () => {
  const totals = store('SO_Totals', 'InvoiceID', 'String');
  const source = new DataSource({
    store: totals, requireTotalCount: true, paginate: true, pageSize: 20, sort: [{ selector: 'InvoiceTotal', desc: true }, 'InvoiceID'],
    filter: [[['InvoiceID', 'startswith', 'd10'], 'or', ['InvoiceID', 'startswith', 'd11']], 'and', ['!', ['InvoiceTotal', '<=', 100]]], select: ['InvoiceID', 'InvoiceTotal'],
  });
  for (const page of [0, 1]) {
    source.pageIndex(page);
    print({ keys: (await load(source)).map(r => r.InvoiceID), count: source.totalCount() });
  }
  print({ count: await new Promise((ok, no) => totals.totalCount({ filter: ['Cartage3Total', '=', null] }).then(ok, no)) });
  print({ keys: [(await new Promise((ok, no) => totals.byKey('00120').then(ok, no))).InvoiceID] });
  const all = await new Promise((ok, no) => totals.load({ filter: ['InvoiceTotal', '>=', 0], select: ['InvoiceID'] }).then(ok, no));
  print({ count: all.length }); // more than a page: it follows the next links
  const documents = store('CR_BatchTransDocuments', 'RecID', 'String', { fieldTypes: { LastSavedDateTime: 'DateTimeOffset' } });
  print({ count: (await new Promise((ok, no) => documents.load({ filter: ['LastSavedDateTime', '>=', new Date('2024-12-31T13:00:00Z')] }).then(ok, no))).length });
})().catch(e => { console.error(e); process.exit(1); });
