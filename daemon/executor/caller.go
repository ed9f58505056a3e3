package executor

import (
	"context"

	"github.com/bizhook/whd/daemon/mssql"
)

// caller is the request that a statement is run for.
type caller struct{ request, user string }

type callerKey struct{}

// WithCaller returns a context with the ID of a request and the name of its user, empty if
// anonymous. Sessions on SQL Server show them, so that an administrator of the server finds
// the request that a statement belongs to.
func WithCaller(ctx context.Context, request, user string) context.Context {
	return context.WithValue(ctx, callerKey{}, caller{request, user})
}

// ContextInfo returns the caller as shown by the session of a statement, nil if there is none.
func ContextInfo(ctx context.Context) []byte {
	c, ok := ctx.Value(callerKey{}).(caller)
	if !ok {
		return nil
	}
	text := "request=" + c.request
	if c.user != "" {
		text += " user=" + c.user
	}
	return []byte(text[:min(len(text), mssql.MaxContextInfo)])
}
