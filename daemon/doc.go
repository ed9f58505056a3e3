// Package daemon assembles the service. New opens and wires its parts in order, Start
// opens the listeners, Stop shuts the parts down in reverse order; Run does all of it
// for a process, until a signal. This package contains composition only: the rules are
// in the packages below it, the commands of the program in cmd/daemon/whd.
//
// This comment is the map for newcomers. The rules of the structure are tables in
// daemon/arch; .github/CONTRIBUTING.md describes building, testing and committing.
//
// # Packages
//
// Shared with the client:
//
//	client/record          registry of record kinds: fields, types, filters
//	client/wire            JSON shapes of requests and responses
//	client/backoff         delays between attempts
//	client/assistant       tools for assistants (Model Context Protocol)
//
// HTTP:
//
//	rest                   the server, the table of routes, and one file of handlers per noun
//	rest/edge              framing, routing, content negotiation, limits, CORS, CSRF
//	rest/form              members of requests other than queries
//	rest/queries           handlers of queries, and the stream of their rows
//	rest/feeds             handlers of OData
//	rest/accounts          access control; handlers of sessions, users and API keys
//	rest/webhooks          handlers of events, subscribers, subscriptions and messages
//	encode                 encoders of all response formats
//	metadata               /metadata pages, OpenAPI, types of clients, derived from the routes
//	live                   server-sent events
//
// Queries and records:
//
//	query                  parses a query, plans it, compiles it to SQL
//	odata                  reads requests of OData, writes its responses
//	dialect                SQL differences between the engines, as data
//	tsql                   SQL Server's comparison and arithmetic, for the embedded store
//	executor               runs plans: session, time limit, total, aggregates
//	erp                    records of the ERP, and changes of custom fields of bills
//	erp/source             reads records for the capture of changes
//	row                    rows on their way from a driver to an encoder
//
// Webhooks:
//
//	webhook                messages, subscriptions, retry rules; no input or output
//	webhook/condition      conditions on the bodies of events
//	webhook/delivery       delivery engine: queues, attempts, leases
//	webhook/sender         one HTTP attempt: signature, dialling, limits
//	webhook/admin          changes of subscribers and subscriptions
//	webhook/stats          counts and latencies
//	webhook/sqlstore       tables of all of these, on both engines
//
// Storage:
//
//	storage                opens the configured store: embedded files or SQL Server
//	appdb                  the service's own tables: migrations, accounts, audit trail
//	mssql, sqlite          layers over the two drivers
//	datadir                lock and free space of the data directory
//	backup, demo           copies of the embedded store; demo records
//	changes/sqlstore       captured changes and the shadow, on both engines
//
// Administration and operation:
//
//	account, audit         users, sessions, API keys, roles of accounts and of kinds; audit trail
//	requestlog             log of requests; its table in requestlog/sqlstore
//	config                 table of settings; file, environment, flags; reload
//	kinds                  record kinds from files
//	preflight              the checks of `whd check`
//	compat                 counts the requests in logs of the .NET service
//	service                systemd and Windows services
//	metrics, trace         Prometheus metrics; OpenTelemetry spans
//	fault                  errors with a kind, which maps to an HTTP status
//
// # The walk of a query
//
// GET /Queries/SO_Totals?InvoiceTotalGreaterThan=1000&Take=10, in order:
//
//	edge.Framed             bounds and frames the bytes of the request
//	trace.Tracer.Handler    starts a span
//	rest.Server.ServeHTTP   limits, authenticates, finds the route and its handler
//	query.Parse             reads the conditions into a Request, by the kind's fields
//	query.NewPlan           decides on columns, page, total and aggregates
//	storage.Store.Select    selects the database of the kind, for ERP records package erp
//	query.Compile           writes the Plan as SQL in the engine's dialect
//	executor                runs it on a connection of mssql or sqlite; returns rows
//	encode                  writes one row at a time in the negotiated format
//	requestlog.Recorder     records the request after the response
//
// A failure on the way is a *fault.Error. rest writes its message and status to the
// client; the error that it wraps goes to the log only.
//
// # The walk of an event
//
// POST /Webhooks/Events, in order:
//
//	rest                        reads the event and checks the role
//	delivery.Engine.Publish     queues the event for the batch writer
//	batch writer                matches it with subscriptions: one message for each
//	sqlstore.Engine.Write       commits event and messages; then rest responds
//	dispatcher                  takes the message from the queue of its subscription
//	sender.Sender.Send          makes one attempt, unless the target is forbidden
//	webhook.Decide              pure function: outcome -> delivered, retry at, failed
//	sqlstore.Engine.Write       stores the result in the next batch
//	live.Hub.Publish            notifies streams; stats and metrics count the attempt
//
// The documentation of webhook/delivery covers its goroutines and locks.
//
// # How to add
//
// Start with the first step: compiler and tests lead to the next. `make golden`
// rewrites expected outputs and generated documentation; review the diff.
//
//   - A record kind: a row in client/record/kinds.go, from which SQL, parsing,
//     metadata, completion and screens are derived; demo records in
//     demo/business.go; the right to read its table in cmd/daemon/deploy/login.sql.
//   - A column of a record kind: its line in client/record/kinds.go; demo values.
//   - A column of the service's own tables: its line in client/record/system.go; a migration
//     in appdb/schema (both engines); in the table of columns of the package that writes
//     it, such as webhook/sqlstore/columns.go. For messages also webhook/message.go.
//   - A setting: a field in config/config.go; a row in config/settings.go, from which
//     file key, variable, flag and documentation are derived; its use. A live
//     setting is read through liveSettings (settings.go) each time.
//   - A route: a row in rest/recordroutes.go, or in the file of another group there; a
//     handler in the file of its noun, in rest/webhooks, rest/accounts or rest; a method in
//     client if programs need it.
//   - A response format: a row in encode/formats.go; its encoder; a reader in
//     encode/encodetest, with which the test suites check it; a row in
//     client/download.go.
//   - A command of whd: a file in cmd/daemon/whd, listed in its app.go. Of whctl: a row
//     in the table of cmd/whctl/NOUN.go or cmd/whctl/webhooks/NOUN.go, and a story in
//     cmd/whctl/testdata/script.
//   - A screen: a package in tui/screens that implements ui.Screen; a ui.Target; key
//     bindings in tui/keymap; a golden test with tui/tuitest.
//   - An exit code: a row in cmd/whctl/exit.go or cmd/daemon/whd/exit.go.
//   - A metric: a collector in metrics, and an alert in cmd/daemon/deploy/alerts.yaml if an
//     operator has to act on it.
//   - A check of `whd check`: a function in preflight.
//
// Every change that users notice also gets a line in CHANGELOG.md.
package daemon
