// Loads records into a report of Stimulsoft Reports.JS, waits for a line on standard input and
// refreshes the report. Arguments: as for generated.js.
const { Base, Report } = require('stimulsoft-reports-js');
const { StiODataDatabase, StiODataSource, StiDataColumn } = Report.Dictionary;

const [, , url, authorization] = process.argv;
(async () => {
  const { dictionary } = new Report.StiReport();
  const database = new StiODataDatabase('ERP', 'ERP', 'Address=' + url + '/odata');
  database.headers.push({ key: 'Authorization', value: authorization });
  dictionary.databases.add(database);
  const source = new StiODataSource('ERP', 'Colours', 'Colours', 'IN_Colours');
  dictionary.dataSources.add(source);
  const schema = new Base.StiODataHelper(database.connectionString);
  schema.headers = database.headers;
  console.log('tables', schema.retrieveSchema().tables.map(t => t.name).sort().join());
  for (const c of schema.getColumns('IN_Colours')) source.columns.add(new StiDataColumn(c.name, c.name, c.name, c.type));
  const refresh = async () => {
    await new Promise((ok, no) => dictionary.connectAsync(true).try(ok).catch(no));
    const rows = [];
    for (source.first(); !source.isEof; source.next()) rows.push(`${source.getData('RecID')}=${source.getData('Description')}`);
    console.log('rows', rows.length, rows[0]);
    dictionary.disconnect();
  };
  await refresh();
  process.stdin.once('data', () => refresh().then(() => process.exit(0)));
})().catch(e => { console.error(e); process.exit(1); });
