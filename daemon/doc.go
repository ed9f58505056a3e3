// Package daemon puts the service together: New opens and wires its parts in order,
// Start serves, Stop ends them in reverse; Run does all of it until a signal comes.
// The commands of the program are in cmd/daemon/whd.
//
// # A query
//
//	edge.Framed           reads the request's head within bounds (rest/edge)
//	trace.Tracer.Handler  begins a span
//	rest.Server           admits, authenticates, finds the route: Server.ServeHTTP
//	query                 reads the conditions and makes a Plan
//	dialect               writes the Plan as SQL of the store's engine
//	storage.Store.Select  takes the Plan to erp, whose executor runs it (mssql or sqlite)
//	encode                writes the rows in the format that was asked for
//	requestlog.Recorder   keeps what was asked
//
// # An event
//
//	rest.Server                 reads the event that is published
//	delivery.Engine.Publish     matches it with the subscriptions, makes messages
//	webhook/sqlstore            stores both in one transaction; only then it is accepted
//	delivery.Engine             takes a message from the queue of its subscription
//	sender.Sender.Send          makes one attempt, past the guard of targets
//	webhook.Decide              says from the outcome what becomes of the message
//	webhook/sqlstore            stores that
//	live.Hub.Publish            shows it on streams; stats and metrics count it
package daemon
