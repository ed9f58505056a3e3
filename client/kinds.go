package client

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"

	"github.com/bizhook/whd/client/backoff"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

// Kinds returns the record kinds of the service that the caller may read.
func (c *Client) Kinds(ctx context.Context) (*record.Registry, error) {
	list, err := c.KindList(ctx, "")
	if err != nil {
		return nil, err
	}
	return list.Registry()
}

// KindList has the record kinds of a service in a form that can be stored.
type KindList struct {
	ETag  string            // changes with the kinds
	Kinds []wire.RecordKind // nil for a service of an earlier version, which has the built-in ones
}

// KindList returns the record kinds of the service that the caller may read. It returns nil
// if their tag is still etag.
func (c *Client) KindList(ctx context.Context, etag string) (*KindList, error) {
	req := call{method: http.MethodGet, path: "/Kinds", header: headerField{ifNoneMatch, etag}}
	reply, err := c.send(ctx, req)
	if Is(err, NotFound) {
		return new(KindList), nil
	}
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	if reply.StatusCode == http.StatusNotModified {
		return nil, nil
	}
	list := &KindList{ETag: reply.Header.Get("ETag")}
	return list, c.decode(reply, &list.Kinds)
}

// AwaitKindList is KindList for programs that run for a long time: it waits while the
// service is away.
func (c *Client) AwaitKindList(ctx context.Context) (*KindList, error) {
	pauses := backoff.Backoff{Min: minReadPause, Max: maxReadPause}
	for {
		list, err := c.KindList(ctx, "")
		if err == nil || ctx.Err() != nil || !isAway(err) {
			return list, err
		}
		if err := c.pauseAfter(ctx, err, &pauses); err != nil {
			return nil, err
		}
	}
}

// isAway reports whether the cause of an error may be that the service is restarting, or that
// the network is down. A certificate that is not trusted, and a port without TLS, do not go
// away by waiting.
func isAway(err error) bool {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return false
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return false
	}
	return isTransient(err) || Is(err, Unreachable) || Is(err, TimedOut)
}

// ifNoneMatch is the header with the tag of the document that the client has already.
const ifNoneMatch = "If-None-Match"

// Registry returns the kinds as a registry. Fields of types that this version does not
// know are texts without filters.
func (l *KindList) Registry() (*record.Registry, error) {
	if l.Kinds == nil {
		return record.Builtin(), nil
	}
	var kinds []record.Kind
	for _, k := range l.Kinds {
		kinds = append(kinds, newKind(k))
	}
	registry, err := record.NewRegistry(kinds...)
	if err != nil {
		message := "the service returned invalid record kinds: " + err.Error()
		return nil, &Error{Kind: Failed, Message: message, Err: err}
	}
	return registry, nil
}

func newKind(k wire.RecordKind) record.Kind {
	kind := record.Kind{
		Name:    k.Name,
		Area:    k.Area,
		Summary: k.Summary,
		Key:     k.Key,
		Role:    k.Role,
	}
	if kind.Operation() != k.Operation {
		kind.OperationName = k.Operation
	}
	for _, f := range k.Fields {
		kind.Fields = append(kind.Fields, newField(f))
	}
	return kind
}

func newField(f wire.OperationField) record.Field {
	fieldType, null, known := record.ParseType(f.Type)
	filter := fieldType.Filter()
	if !known {
		filter = record.NoFilter
	}
	return record.Field{Name: f.Name, Type: fieldType, Filter: filter, Null: null}
}
