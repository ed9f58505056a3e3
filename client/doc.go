// Package client is the Go API of the service: typed queries with streamed rows,
// authentication, webhooks, and errors with their cause.
//
// A query selects records of a kind in a registry, usually that of the service, which Kinds
// returns; see the example of the package.
//
// Rows streams any number of records in constant memory and fails if the reply is
// incomplete. Page fetches a single page with the total. Values keep the text form of
// the wire, so decimals are not converted to floats.
package client
