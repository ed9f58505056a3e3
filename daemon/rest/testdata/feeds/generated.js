// Runs queries with the client that odata2ts has generated from the metadata, and prints a
// line for each: the members of the same query by REST, the kind, and the rows' key.
// Arguments: the URL of the service, and the value of the header Authorization.
const { FetchClient } = require('@odata2ts/http-client-fetch');
const { WhdService } = require('./generated/WhdService');

const [, , url, authorization] = process.argv;
const service = new WhdService(new FetchClient({ headers: { Authorization: authorization } }), url + '/odata');
const queries = [];
const add = (kind, build, rest) => queries.push({ kind, build, rest });

const operators = { gt: 'GreaterThan', ge: 'GreaterThanOrEqualTo', lt: 'LessThan', le: 'LessThanOrEqualTo', eq: '' };
for (const field of ['InvoiceTotal', 'Cartage1Total', 'Cartage2TaxTotal', 'Cartage3Total']) {
  for (const [operator, suffix] of Object.entries(operators)) {
    add('SO_Totals', (b, q) => b.filter(q[field][operator](135)).orderBy(q.InvoiceID.asc()).top(500), `${field}${suffix}=135&OrderBy=InvoiceID&Take=500`);
    add('SO_Totals', (b, q) => b.filter(q[field][operator](20.5), q.InvoiceID.startsWith('D10')).orderBy(q[field].desc(), q.InvoiceID.desc()).top(300).skip(3), `${field}${suffix}=20.5&InvoiceIDStartsWith=D10&OrderBy=-${field},-InvoiceID&Take=300&Skip=3`);
  }
  add('SO_Totals', (b, q) => b.filter(q[field].isNull()).orderBy(q.InvoiceID.asc()), `${field}IsNull=1&OrderBy=InvoiceID`);
  add('SO_Totals', (b, q) => b.filter(q[field].isNotNull(), q.InvoiceTotal.lt(60)).orderBy(q.InvoiceID.asc()), `${field}IsNotNull=1&InvoiceTotalLessThan=60&OrderBy=InvoiceID`);
}
for (const [method, suffix] of Object.entries({ startsWith: 'StartsWith', endsWith: 'EndsWith', contains: 'Contains' })) {
  for (const text of ['a', 'é', '50%']) {
    add('JB_EstimateResourceLines', (b, q) => b.filter(q.Remark[method](text)).orderBy(q.RecID.asc()), `Remark${suffix}=${text}&OrderBy=RecID`);
  }
}
add('CR_BatchTransDocuments', (b, q) => b.filter(q.LastSavedDateTime.ge('2025-01-01T00:00:00+11:00')).orderBy(q.RecID.asc()), 'LastSavedDateTimeGreaterThanOrEqualTo=2025-01-01&OrderBy=RecID');
add('CR_BatchTransDocuments', (b, q) => b.filter(q.LastSavedDateTime.lt('2024-12-31T13:00:00Z')).select('RecID').orderBy(q.RecID.asc()), 'LastSavedDateTimeLessThan=2025-01-01&OrderBy=RecID&Fields=RecID');
add('BM_Inputs', (b, q) => b.filter(q.IsRatio.eq(true)).orderBy(q.RecID.asc()).top(50), 'IsRatio=true&OrderBy=RecID&Take=50');
add('BM_Inputs', (b, q) => b.filter(q.ItemNo.in(2, 3)).orderBy(q.RecID.asc()).top(50), 'ItemNoIn=2,3&OrderBy=RecID&Take=50');
add('BM_Inputs', (b, q) => b.filter(q.ItemNo.eq(2).or(q.ItemNo.eq(3))).select('RecID', 'ItemNo').orderBy(q.RecID.asc()).top(50), 'ItemNoIn=2,3&OrderBy=RecID&Take=50');
add('BM_InputCustomFields', (b, q) => b.filter(q.SY_Plugin_RecID.eq('e16451b5-38ad-4d5c-a968-d992cd792b2e')).orderBy(q.RecID.asc()), 'SY_Plugin_RecID=e16451b5-38ad-4d5c-a968-d992cd792b2e&OrderBy=RecID');
add('SY_Filters', (b, q) => b.filter(q.FilterNo.gt(3).and(q.FilterNo.lt(9)).and(q.ItemNo.ge(2))).orderBy(q.RecID.asc()), 'FilterNoGreaterThan=3&FilterNoLessThan=9&ItemNoGreaterThanOrEqualTo=2&OrderBy=RecID');

(async () => {
  for (const { kind, build, rest } of queries) {
    const { data } = await service[kind]().query((b, q) => build(b.count(), q));
    if (data['@odata.nextLink']) throw new Error(`${rest}: more than one page`);
    console.log(JSON.stringify({ kind, rest, count: data['@odata.count'], keys: data.value.map(row => row.InvoiceID ?? row.RecID) }));
  }
  const { data } = await service.SO_Totals('00120').query();
  console.log(JSON.stringify({ kind: 'SO_Totals', rest: 'InvoiceID=00120', count: 1, keys: [data.InvoiceID] }));
})().catch(e => { console.error(e); process.exit(1); });
