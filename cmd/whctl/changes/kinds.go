package changes

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/cmd/whctl/records"
)

// kindsInterval is the interval at which the fields of the kinds are read again.
const kindsInterval = time.Minute

// kindReader reads the kinds of the service. Their fields can change at any time.
type kindReader struct {
	service *client.Client
	now     func() time.Time

	mu       sync.Mutex       // guards the fields below, and is held during a request
	registry *record.Registry // nil before the first reply
	etag     string           // entity tag of the registry
	readAt   time.Time        // time of the last request
}

// named returns the kinds with some names, each once.
func (r *kindReader) named(ctx context.Context, names []string) ([]*record.Kind, error) {
	var kinds []*record.Kind
	for _, name := range names {
		kind, err := r.kind(ctx, name, kindsInterval)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds, nil
}

// kind returns a kind with the fields that it had at most maxAge ago. If they cannot be read, those
// of an earlier time are used.
func (r *kindReader) kind(
	ctx context.Context, name string, maxAge time.Duration,
) (*record.Kind, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.registry == nil || r.now().Sub(r.readAt) > maxAge {
		if err := r.read(ctx); err != nil && r.registry == nil {
			return nil, err
		}
		r.readAt = r.now()
	}
	return records.KindNamed(r.registry, name)
}

// read reads the registry, if it has changed. It keeps the earlier one if the service returns kinds
// that this version does not understand, as after an upgrade. The caller holds r.mu.
func (r *kindReader) read(ctx context.Context) error {
	list, err := r.list(ctx)
	if err != nil || list == nil {
		return err
	}
	registry, err := list.Registry()
	if err != nil {
		return err
	}
	r.registry = registry
	r.etag = list.ETag
	return nil
}

// list returns the kinds of the service, or nil if they have not changed. At the start it waits for
// the service. The caller holds r.mu.
func (r *kindReader) list(ctx context.Context) (*client.KindList, error) {
	if r.registry == nil {
		return r.service.AwaitKindList(ctx)
	}
	return r.service.KindList(ctx, r.etag)
}
