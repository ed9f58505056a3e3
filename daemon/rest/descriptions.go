package rest

import (
	"slices"
	"sync"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/metadata"
	"github.com/bizhook/whd/daemon/webhook"
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

// describer describes a service to an audience.
type describer func(
	kinds *record.Registry, events []metadata.Event, readers audience,
) *metadata.Service

// descriptions caches the descriptions of a service. If its kinds or events change, they are built
// again.
type descriptions struct {
	describe describer

	mu     sync.Mutex
	kinds  *record.Registry // the kinds in the cached descriptions
	events []record.Event   // the events in them
	cache  map[audience]*description
}

// newDescriptions returns the descriptions of a service with a table of operations.
func newDescriptions(c Config, table []operation) *descriptions {
	describeTo := func(
		kinds *record.Registry, events []metadata.Event, readers audience,
	) *metadata.Service {
		service := metadata.Service{
			Version:  c.Version,
			HostURL:  c.Edge.HostURL,
			ISODates: readers.iso,
			Events:   events,
		}
		return describe(service, table, kinds, readers.open)
	}
	return &descriptions{describe: describeTo}
}

// forAudience returns the description for an audience: it has the kinds that the audience may read,
// and the events except those of other kinds.
func (c *descriptions) forAudience(
	kinds *record.Registry, events []record.Event, readers audience,
) *description {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kinds != kinds || !slices.Equal(c.events, events) {
		c.kinds = kinds
		c.events = events
		c.cache = make(map[audience]*description)
	}
	d := c.cache[readers]
	if d == nil {
		bodies := webhook.ServiceBodies()
		mayRead := func(k *record.Kind) bool { return account.RoleOf(k).Allows(readers.role) }
		d = newDescription(func() *metadata.Service {
			described := metadata.Events(events, bodies, kinds, mayRead)
			return c.describe(kinds.Filter(mayRead), described, readers)
		})
		c.cache[readers] = d
	}
	return d
}
