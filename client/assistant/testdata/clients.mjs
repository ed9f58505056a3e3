// Reads rows by two clients of the protocol, and prints the text of each result, which hosts
// pass to a model. Argument: the URL of the service.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
const require = createRequire(process.cwd() + '/');
const load = name => import(pathToFileURL(require.resolve(name)));
const url = process.argv[2] + '/mcp';
const call = { kind: 'SO_Totals', filter: { InvoiceID: '00120' }, fields: 'InvoiceID' };
const print = (name, tools, result) => console.log(JSON.stringify({ name, tools: tools.sort(), texts: result.content.map(part => part.text) }));

const { createMCPClient, experimental_createMCPClient } = await load('@ai-sdk/mcp');
const ai = await (createMCPClient ?? experimental_createMCPClient)({ transport: { type: 'http', url } });
const tools = await ai.tools();
print('@ai-sdk/mcp', Object.keys(tools), await tools.query.execute(call, { toolCallId: '1', messages: [] }));
await ai.close();

const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
const { StreamableHTTPClientTransport } = await load('@modelcontextprotocol/sdk/client/streamableHttp.js');
const client = new Client({ name: 'test', version: '1' });
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
const listed = await client.listTools();
print('@modelcontextprotocol/sdk', listed.tools.map(tool => tool.name), await client.callTool({ name: 'query', arguments: call }));
await client.close();
