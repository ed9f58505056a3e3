// Tests a running daemon with ServiceStack's client, which programs written for the
// existing service use. Prints one line for each test.
import { createRequire } from 'node:module'
const { JsonServiceClient } = createRequire(process.cwd() + '/')('@servicestack/client')

const [url, password, bill] = process.argv.slice(2)
const place = JSON.parse(bill)

class QueryResponse {}
class AuthenticateResponse {}
class CustomFieldValue {}

// request returns a class of requests like the client's generated types.
function request(name, method, response) {
    return class {
        constructor(init) { Object.assign(this, init) }
        getTypeName() { return name }
        getMethod() { return method }
        createResponse() { return new response() }
    }
}
const Authenticate = request('Authenticate', 'POST', AuthenticateResponse)
const SO_TotalsQuery = request('SO_TotalsQuery', 'POST', QueryResponse)
const DB_ClassQuery = request('DB_ClassQuery', 'GET', QueryResponse)
const BM_InputsQuery = request('BM_InputsQuery', 'POST', QueryResponse)
const BM_InputCustomFieldsQuery = request('BM_InputCustomFieldsQuery', 'POST', QueryResponse)
const IN_ProductAvailabilityQuery = request('IN_ProductAvailabilityQuery', 'GET', QueryResponse)
const IN_ColoursQuery = request('IN_ColoursQuery', 'GET', QueryResponse)
const NoSuchQuery = request('SO_TotalQuery', 'POST', QueryResponse)
const UpdateValue = request('UpdateBillStageCustomFieldValue', 'PATCH', CustomFieldValue)
const Logs = request('QueryRequestLogsGETManyRequest', 'GET', QueryResponse)

function equal(got, want, subject) {
    const [g, w] = [JSON.stringify(got), JSON.stringify(want)]
    if (g !== w) throw new Error(`${subject}: got ${g}, want ${w}`)
}
function holds(yes, subject) { if (!yes) throw new Error(subject) }
async function fails(promise, status, code) {
    try { await promise } catch (e) {
        equal(e.responseStatus?.errorCode, code, 'error code')
        return e.responseStatus
    }
    throw new Error(`no error where ${status} ${code} was expected`)
}

// namedOperations calls the operations by the names of the existing service, as classes
// generated from it do.
async function namedOperations(base) {
    class Any {}
    const boss = new JsonServiceClient(url), open = new JsonServiceClient(url)
    for (const c of [boss, open]) base === '/api' ? c.useBasePath('/api') : c.useBasePath()
    const call = (c, method, name, members) => c[method.toLowerCase()](new (request(name, method, Any))(members))
    const login = await call(boss, 'POST', 'LoginPOSTRequest', { UserName: 'admin', Password: password })
    equal(login.UserName, 'admin', 'login')
    boss.headers.set('X-ss-id', login.SessionId)
    holds((await call(boss, 'GET', 'AuthCurrentSessionGETRequest')).UserName === 'admin', 'session')
    await call(boss, 'GET', 'KeepAliveGETRequest')
    const value = await call(boss, 'PATCH', 'BillStageCustomFieldValuePATCHRequest', { ...place, Contents: base })
    equal(value.Contents, base, 'bill')
    equal((await call(boss, 'GET', 'BillStageCustomFieldValueGETRequest', place)).Contents, base, 'bill value')
    holds((await call(boss, 'GET', 'BillStageCustomFieldValuesGETManyRequest', place)).length > 0, 'bill values')
    const many = base === '/api' // the later generation has names of its own
    const events = await call(open, 'GET', many ? 'WebhooksEventsGETManyRequest' : 'WebhooksEventsGETRequest')
    holds(events.length >= 42, 'events')
    const noun = many ? 'WebhooksSubscriber' : 'WebhooksSubscribers', sub = many ? 'WebhooksSubscription' : 'WebhooksSubscriptions'
    const subscriber = await call(boss, 'POST', noun + 'POSTRequest', { Name: 'client ' + base })
    const SubscriberID = subscriber.RecID
    equal((await call(boss, 'PATCH', noun + 'PATCHRequest', { SubscriberID, Name: 'changed ' + base })).Name, 'changed ' + base, 'subscriber')
    equal((await call(boss, 'GET', noun + 'GETRequest', { SubscriberID })).RecID, SubscriberID, 'one subscriber')
    holds((await call(boss, 'GET', 'WebhooksSubscribersGETManyRequest')).Results.length > 0, 'subscribers')
    const made = await call(open, 'POST', sub + 'POSTRequest', { SubscriberID, URL: 'https://example.com/hook', EventName: 'debtor.created' })
    const SubscriptionID = made.RecID
    equal((await call(open, 'PATCH', sub + 'PATCHRequest', { SubscriberID, SubscriptionID, EventName: 'debtor.updated' })).EventName, 'debtor.updated', 'subscription')
    const all = await call(open, 'GET', many ? 'WebhooksSubscriptionsGETManyRequest' : 'WebhooksSubscriptionsGETRequest', { SubscriberID })
    equal(all.map(x => x.RecID), [SubscriptionID], 'subscriptions')
    const raised = await call(boss, 'POST', many ? 'WebhooksEventPOSTRequest' : 'WebhooksEventsPOSTRequest', { EventName: 'debtor.updated', Body: '{}' })
    equal(raised.Messages, 1, 'messages of the event')
    const sent = await call(open, 'GET', many ? 'WebhooksMessagesGETManyRequest' : 'WebhooksMessagesGETRequest', { SubscriberID, Take: 5 })
    equal(sent.Results.length, 1, 'messages')
    await call(open, 'GET', 'WebhooksMessageResponsesGETRequest', { SubscriberID })
    const message = many ? 'WebhooksMessageDELETERequest' : 'WebhooksMessagesDELETERequest'
    await call(open, 'DELETE', message, { SubscriberID, SubscriptionID, MessageID: sent.Results[0].MessageID })
    await call(open, 'DELETE', sub + 'DELETERequest', { SubscriberID, SubscriptionID })
    await call(boss, 'DELETE', noun + 'DELETERequest', { SubscriberID })
    await fails(call(boss, 'GET', noun + 'GETRequest', { SubscriberID }), 404, 'NotFound')
    const batch = await boss.sendAll([1, 2, 3].map(Take => new SO_TotalsQuery({ Take })))
    equal(batch.map(x => x.Results.length), [1, 2, 3], 'sendAll')
    const status = await fails(boss.sendAll([1, -1].map(Take => new SO_TotalsQuery({ Take }))), 400, 'ArgumentException')
    equal(Object.entries(status.meta).find(([name]) => /autobatchindex/i.test(name))?.[1], '1', 'the failed request')
    await boss.sendAllOneWay([1, 2].map(Take => new SO_TotalsQuery({ Take })))
    await call(boss, 'GET', 'LogoutGetRequest')
}

// everyOperation calls all operations by all of their names, with an id that does not
// exist for each member of a path.
async function everyOperation(base) {
    class Any {}
    const boss = new JsonServiceClient(url)
    boss.bearerToken = (await client.postToUrl('/ApiKeys', { Name: 'client at ' + base.slice(1, 4), Role: 'admin' })).Key
    base === '/api' ? boss.useBasePath('/api') : boss.useBasePath()
    let queries = 0, names = 0
    for (const o of (await client.get('/metadata')).Operations) {
        const routes = o.Routes.filter(r => !/\{Format\}|^\/api\//.test(r.Path))
        if (/^\/(docs|odata|mcp|Pages)\b/.test(routes[0].Path)) continue // at their own paths only
        const members = Object.fromEntries([...routes[0].Path.matchAll(/\{(\w+)\}/g)].map(m => [m[1], '00000000-0000-4000-8000-000000000000']))
        const query = o.Name === 'QueryRequestLogsGETManyRequest' || /^\/Queries\/\w+$/.test(routes[0].Path)
        for (const name of [o.Name, ...o.Aliases ?? []]) {
            if (['Home', 'Stream'].includes(name)) continue // for browsers; without an end
            names++
            const method = query ? 'POST' : routes[0].Methods[0]
            try {
                const r = await boss[method.toLowerCase()](new (request(name, method, Any))(query ? { Take: 2 } : members))
                if (!query) continue
                holds(name.startsWith('Yesterday') || r.Results.length > 0 && r.Results.length <= 2, `${name}: ${r.Results?.length} rows`)
                queries++
            } catch (e) {
                if (e instanceof SyntaxError) continue // a page or a text
                const status = e.responseStatus
                holds(!query && status && !/unknown operation|path not found|not allowed/.test(status.message) && ['NotFound', 'NotEmpty', 'ArgumentException'].includes(status.errorCode),
                    `${base} ${name}: ${JSON.stringify(status ?? e.message)}`)
            }
        }
    }
    return [queries, names]
}

const client = new JsonServiceClient(url)
const anonymous = new JsonServiceClient(url)
let session = ''

const tests = {
    'queries need a login': async () => {
        await fails(anonymous.post(new SO_TotalsQuery({ Take: 1 })), 401, 'Unauthorized')
    },
    'a wrong password is rejected': async () => {
        const status = await fails(anonymous.post(new Authenticate({ provider: 'credentials', UserName: 'admin', Password: 'wrong' })), 401, 'Unauthorized')
        equal(status.message, 'Invalid Username or Password', 'message')
    },
    'login': async () => {
        const r = await client.post(new Authenticate({ provider: 'credentials', UserName: 'admin', Password: password, RememberMe: true }))
        equal(r.UserName, 'admin', 'user')
        holds(r.SessionId?.length >= 20, 'a session id')
        session = r.SessionId
    },
    'equality of text': async () => {
        const r = await client.post(new SO_TotalsQuery({ InvoiceID: '00120' }))
        equal([r.Total, r.Results.length, r.Results[0].InvoiceID, r.Offset], [1, 1, '00120', 0], 'rows')
    },
    'suffixes of text': async () => {
        const starts = await client.post(new SO_TotalsQuery({ InvoiceIDStartsWith: 'D1000', Take: 5 }))
        holds(starts.Results.every(x => x.InvoiceID.startsWith('D1000')), 'StartsWith')
        const ends = await client.post(new SO_TotalsQuery({ InvoiceIDEndsWith: '42', Take: 5 }))
        holds(ends.Results.every(x => x.InvoiceID.endsWith('42')), 'EndsWith')
        const has = await client.post(new SO_TotalsQuery({ InvoiceIDContains: '777' }))
        holds(has.Results.length > 0 && has.Results.every(x => x.InvoiceID.includes('777')), 'Contains')
        const like = await client.post(new SO_TotalsQuery({ InvoiceIDLike: 'D10000[1-3]' }))
        equal(like.Results.map(x => x.InvoiceID), ['D100001', 'D100002', 'D100003'].filter(id => like.Results.some(x => x.InvoiceID === id)), 'Like')
        const one = await client.post(new SO_TotalsQuery({ InvoiceIDIn: ['00120', '00122', 'none'], OrderBy: 'InvoiceID' }))
        equal(one.Results.map(x => x.InvoiceID), ['00120', '00122'], 'In')
        const between = await client.post(new SO_TotalsQuery({ InvoiceIDBetween: ['00120', '00123'], OrderBy: 'InvoiceID' }))
        holds(between.Results.length >= 2 && between.Results.every(x => x.InvoiceID >= '00120' && x.InvoiceID <= '00123'), 'Between')
    },
    'suffixes of numbers': async () => {
        const over = await client.post(new SO_TotalsQuery({ InvoiceTotalGreaterThan: 1000, Take: 20 }))
        holds(over.Results.length === 20 && over.Results.every(x => x.InvoiceTotal > 1000), 'GreaterThan')
        const between = await client.post(new SO_TotalsQuery({ InvoiceTotalBetween: [100, 200], Take: 20 }))
        holds(between.Results.every(x => x.InvoiceTotal >= 100 && x.InvoiceTotal <= 200), 'Between')
        const not = await client.post(new BM_InputsQuery({ ItemNoNotEqualTo: 1, ItemNoLessThanOrEqualTo: 2, Take: 20 }))
        holds(not.Results.every(x => x.ItemNo === 2), 'NotEqualTo and LessThanOrEqualTo')
        const bytes = await client.post(new BM_InputsQuery({ SubAssemblyExplodePolicyIn: [0, 1], Take: 5 }))
        holds(bytes.Results.every(x => x.SubAssemblyExplodePolicy <= 1), 'In of bytes')
    },
    'bools and guids': async () => {
        const yes = await client.get(new IN_ProductAvailabilityQuery({ Available: true, Take: 10 }))
        holds(yes.Results.length === 10 && yes.Results.every(x => x.Available === true), 'bool')
        const all = await client.post(new BM_InputCustomFieldsQuery({ Take: 50 }))
        const guid = all.Results.find(x => x.SY_Plugin_RecID).SY_Plugin_RecID
        for (const form of [guid, guid.replaceAll('-', ''), `{${guid.toUpperCase()}}`]) {
            const r = await client.post(new BM_InputCustomFieldsQuery({ SY_Plugin_RecID: form }))
            holds(r.Results.length > 0 && r.Results.every(x => x.SY_Plugin_RecID === guid), `guid as ${form}`)
        }
    },
    'dates': async () => {
        const r = await client.post(new BM_InputCustomFieldsQuery({ LastSavedDateTimeGreaterThanOrEqualTo: '2019-01-01', Take: 5 }))
        holds(r.Results.every(x => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}$/.test(x.LastSavedDateTime)), 'seven fraction digits')
        const legacy = await client.post(new BM_InputCustomFieldsQuery({ LastSavedDateTimeLessThan: '/Date(1546300800000+0000)/', Take: 5 }))
        holds(legacy.Results.every(x => x.LastSavedDateTime < '2019-01-02'), 'the legacy notation')
    },
    'paging and order': async () => {
        const first = await client.get(new IN_ColoursQuery({ Skip: 0, Take: 10, OrderByDesc: 'Description' }))
        const second = await client.get(new IN_ColoursQuery({ Skip: 10, Take: 10, OrderByDesc: 'Description' }))
        equal([first.Total, second.Total, second.Offset], [2000, 2000, 10], 'totals')
        const ids = new Set([...first.Results, ...second.Results].map(x => x.RecID))
        equal(ids.size, 20, 'rows of two pages')
    },
    'fields, aggregates and Meta': async () => {
        const r = await client.post(new SO_TotalsQuery({ Fields: 'InvoiceID', Take: 3, Include: 'COUNT(*) Rows, MAX(InvoiceTotal)' }))
        holds(r.Results.every(x => Object.keys(x).join() === 'InvoiceID'), 'one field')
        equal([r.Meta.Rows, Object.keys(r.Meta).length], ['12000', 2], 'Meta')
    },
    'every kind of request by GET with a query string': async () => {
        const r = await client.get('/json/reply/DB_ClassQuery', { ClassStartsWith: 'C', OrderBy: 'Class' })
        holds(r.Results.length > 0 && r.Results.every(x => x.Class.toUpperCase().startsWith('C')), 'rows')
        const typed = await client.get(new DB_ClassQuery({ ClassIn: ['Cash sale', 'B - Regular'] }))
        equal(typed.Results.length, 2, 'a list in a query string')
    },
    'the CSV of a query': async () => {
        const r = await fetch(`${url}/csv/reply/SO_TotalsQuery`, { method: 'POST', body: '{"InvoiceID":"00120"}',
            headers: { 'X-ss-id': session, 'Content-Type': 'text/csv', Accept: 'text/csv' } })
        const lines = (await r.text()).split('\r\n')
        equal([r.status, lines.length], [200, 3], 'header, row, end')
        holds(lines[0].startsWith('InvoiceID,') && lines[1].startsWith('00120,'), lines.join('|'))
    },
    'errors name their member': async () => {
        const status = await fails(client.post(new SO_TotalsQuery({ InvoiceTotal: 'much', Take: -1 })), 400, 'ArgumentException')
        equal(status.errors.map(e => e.fieldName).sort(), ['InvoiceTotal', 'Take'], 'fields')
    },
    'an unknown operation suggests similar ones': async () => {
        const status = await fails(client.post(new NoSuchQuery({})), 404, 'NotFound')
        holds(status.message.includes('SO_TotalsQuery'), status.message)
    },
    'api() distinguishes success from failure': async () => {
        const good = await client.api(new SO_TotalsQuery({ Take: 1 }))
        const bad = await client.api(new SO_TotalsQuery({ OrderBy: 'Nothing' }))
        equal([good.succeeded, bad.failed, bad.error.errorCode], [true, true, 'ArgumentException'], 'api')
    },
    'the update of a custom field': async () => {
        const path = `/Bills/${place.BillID}/Stages/${place.StageID}/CustomFieldValues/${place.SettingID}`
        const changed = await client.patchToUrl(path, new UpdateValue({ Contents: 'by the client' }))
        equal([changed.SettingID, changed.Contents], [place.SettingID, 'by the client'], 'the answer')
        holds('SettingName' in changed && 'PluginID' in changed && 'PluginName' in changed, 'five members')
        equal((await client.get(path)).Contents, 'by the client', 'read back')
        await fails(client.patchToUrl(path.replace(place.BillID, 'none'), new UpdateValue({ Contents: 'x' })), 404, 'NotFound')
        await fails(client.patchToUrl(path, new UpdateValue({})), 400, 'NotEmpty')
    },
    'the request log': async () => {
        const r = await client.get(new Logs({ ViewErrors: true, Take: 5 }))
        holds(r.Results.length > 0 && r.Results.every(x => x.StatusCode >= 400), 'errors only')
    },
    'the operations of the existing service by name, at each base path': async () => {
        for (const base of ['/api', '/json/reply']) await namedOperations(base)
    },
    'FormData': async () => {
        const form = new FormData()
        for (const [name, value] of [['InvoiceIDIn', '00120'], ['InvoiceIDIn', '00122'], ['OrderBy', 'InvoiceID'], ['Take', '5']]) form.append(name, value)
        const r = await client.postBody(new SO_TotalsQuery({}), form)
        equal(r.Results.map(x => x.InvoiceID), ['00120', '00122'], 'rows')
    },
    'every operation by every name, at each base path': async () => {
        const [queries, names] = await everyOperation('/json/reply')
        holds(queries >= 16 && names >= 100, `${queries} queries, ${names} names`)
        equal(await everyOperation('/api'), [queries, names], 'operations')
    },
    'logout': async () => {
        await client.postToUrl('/auth/logout', new Authenticate({}))
        await fails(client.post(new SO_TotalsQuery({ Take: 1 })), 401, 'Unauthorized')
    },
}

let failed = 0
for (const [name, test] of Object.entries(tests)) {
    try {
        await test()
        console.log(`ok ${name}`)
    } catch (e) {
        failed++
        console.log(`FAILED ${name}: ${e.message ?? JSON.stringify(e)}`)
    }
}
console.log(`${Object.keys(tests).length - failed} of ${Object.keys(tests).length} tests passed`)
process.exit(failed ? 1 : 0)
