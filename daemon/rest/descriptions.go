package rest

import (
	"slices"
	"sync"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/metadata"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// audience is a group of callers with the same description of a service.
type audience struct {
	role account.Role // NoRole if no kind requires a role
	open bool         // queries need no login
	iso  bool         // dates of webhooks are in ISO 8601 by the settings
}

// description holds the documents about a service, each built on first use.
type description struct {
	service func() *metadata.Service
	openAPI func() []byte
	swagger func() []byte
	types   map[*metadata.Language]func() (*metadata.Types, error)
}

func newDescription(describe func() *metadata.Service) *description {
	service := sync.OnceValue(describe)
	d := &description{
		service: service,
		openAPI: sync.OnceValue(func() []byte { return service().OpenAPI() }),
		swagger: sync.OnceValue(func() []byte { return service().Swagger() }),
		types:   make(map[*metadata.Language]func() (*metadata.Types, error)),
	}
	for _, l := range metadata.Languages() {
		d.types[l] = sync.OnceValues(func() (*metadata.Types, error) { return l.Types(service()) })
	}
	return d
}

// description returns the documents for the settings and the user of a request: they
// have the kinds that the user may read.
func (h *documents) description(x *edge.Context) *description {
	all, to := x.Options.Kinds(), audience{open: x.Options.AnonymousQueries, iso: x.Options.ISODates}
	if slices.ContainsFunc(all.Kinds(), func(k *record.Kind) bool { return k.Role != "" }) {
		if !x.Identity.Known() {
			_, _ = h.access.IsAdmin(x) // identifies the user; the documents are public otherwise
		}
		to.role = x.Identity.Role
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.of != all {
		h.of, h.cache = all, make(map[audience]*description)
	}
	d := h.cache[to]
	if d == nil {
		d = newDescription(func() *metadata.Service {
			return h.describe(all.Filter(func(k *record.Kind) bool { return to.role.Includes(edge.KindRole(k)) }), to)
		})
		h.cache[to] = d
	}
	return d
}
