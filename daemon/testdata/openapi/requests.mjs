// Sends a request for every operation of an OpenAPI document by newman, through Prism,
// which compares requests and responses with the document. Arguments: the address of
// Prism, a key, and the values of path parameters that have no example.
import { createRequire } from 'node:module'
const require = createRequire(process.cwd() + '/')
const newman = require('newman')
const api = require('./openapi.json')

const [address, key, values] = process.argv.slice(2)
const given = { ...JSON.parse(values), Key: '0001', SubscriptionRequestHeaderID: '{{header}}' }

// Key is another parameter in OData. Prism ends at the trailers of large responses. An explanation
// needs a key or a message, neither of which is required by itself.
const ofFeeds = { ...given, Key: "'00120'" }, options = { ODataRows: '$top=5', Why: 'Key=0001' }

// Operations that do not end, that of a stopped capture, that of another protocol, and
// redirects, which Prism follows by itself.
const left = ['Stream', 'ResumeCapture', 'MCP', 'Home', 'Home_get_swagger_ui', 'Home_get_requestlogs']

const resolve = part => part && part.$ref ? part.$ref.split('/').slice(1).reduce((at, name) => at[name], api) : part

// itemsOf returns the items of a collection for one operation: one for each media type
// of the response and of the request.
function itemsOf(path, method, item) {
    if (path.startsWith('/docs/images/')) return [] // pictures, of the operation of the pages
    const operation = item[method]
    const parameters = (item.parameters || []).concat(operation.parameters || []).map(resolve)
    const place = path.replace(/\{(\w+)\}/g, (_, name) => (path.startsWith('/odata') ? ofFeeds : given)[name] || parameters.find(p => p.in === 'path' && p.name === name).example)
    const example = p => (p.example === '' ? undefined : p.example) ?? given[p.name]
    const query = options[operation.operationId] || parameters.filter(p => p.in === 'query' && example(p) !== undefined && (p.required || p.name === 'Take' || p.example !== '' && !item.parameters.includes(p)))
        .map(p => encodeURIComponent(p.name) + '=' + encodeURIComponent(example(p))).join('&')
    const [status, success] = Object.entries(operation.responses).find(([status]) => status !== 'default')
    const accepted = Object.keys(resolve(success).content || { 'application/json': {} })
    const bodies = operation.requestBody ? bodiesOf(resolve(operation.requestBody).content) : [undefined]
    const variants = method === 'get' && !path.includes('{Format}') ? accepted.map(accept => [accept, bodies[0]])
        : path.startsWith('/Queries/') ? bodies.map(body => ['application/json', body]) : [[accepted.includes('application/json') ? 'application/json' : accepted[0], bodies[0]]]
    return variants.map(([accept, body]) => {
        const header = [{ key: 'Authorization', value: 'Bearer ' + key }, { key: 'Accept', value: accept }]
        if (body) header.push({ key: 'Content-Type', value: body.type })
        const check = `
            const header = /"SubscriptionRequestHeaderID":"([^"]+)"/.exec(pm.response.text())
            if (header) pm.collectionVariables.set('header', header[1])
            pm.test(pm.info.requestName, () => {
                const violations = pm.response.headers.get('sl-violations')
                if (violations) throw new Error(violations)
                if (pm.response.code !== ${status}) throw new Error(pm.response.code + ' instead of ${status}: ' + pm.response.text().slice(0, 300))
            })`
        return {
            name: `${operation.operationId}: ${method} ${place} ${body ? body.type : ''} -> ${accept}`, event: [{ listen: 'test', script: { exec: check } }],
            request: { method: method.toUpperCase(), header, url: address + place + (query && '?' + query), body: body && { mode: 'raw', raw: body.text } },
        }
    })
}

// bodiesOf returns the example as JSON and as a form.
function bodiesOf(content) {
    const { example } = content['application/json']
    for (const name in example) if (given[name]) example[name] = given[name]
    const form = Object.entries(example).map(pair => pair.map(encodeURIComponent).join('='))
    return [{ type: 'application/json', text: JSON.stringify(example) }, { type: 'application/x-www-form-urlencoded', text: form.join('&') },
        { type: 'text/csv', text: Object.keys(example).join() + '\n' + Object.values(example).join() }]
}

const items = Object.entries(api.paths).flatMap(([path, item]) => Object.keys(item)
    .filter(method => method !== 'parameters' && !left.includes(item[method].operationId))
    .flatMap(method => itemsOf(path, method, item).map(item =>
        ({ item, removes: method === 'delete' && /\{(?!Format)/.test(path) ? path.length : 0 }))))
items.sort((a, b) => a.removes && b.removes ? b.removes - a.removes : a.removes - b.removes) // inner resources first

newman.run({ collection: { info: { name: 'all operations' }, item: items.map(i => i.item) }, ignoreRedirects: true, reporters: [] }, (error, summary) => {
    if (error) throw error
    for (const f of summary.run.failures) console.log(`${f.source.name}: ${f.error.message}`)
    console.log(`${items.length} requests, ${summary.run.failures.length} failures`)
    process.exitCode = summary.run.failures.length ? 1 : 0
})
