package delivery

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"time"

	"github.com/bizhook/whd/daemon/fault"
)

// keyLife is how long an idempotency key stands for the event that was
// published under it.
const keyLife = 24 * time.Hour

// keyOf is what is remembered of an event that is published under a key.
func keyOf(name string, body []byte, key string, now time.Time) *Key {
	event := append(append([]byte(name), 0), body...)
	return &Key{Hash: sha256.Sum256([]byte(key)), Digest: sha256.Sum256(event), Until: now.Add(keyLife)}
}

// errKeyOfAnother is for an event under a key that stands for another one.
var errKeyOfAnother = fault.New(fault.Conflict, "The Idempotency-Key was used for another event within the last 24 hours")

// PublishOnce raises an event under a key. For a day the same event under the
// same key gives the receipt of the first, and replayed is true; another event
// is a Conflict.
func (e *Engine) PublishOnce(ctx context.Context, name string, body []byte, key string) (r Receipt, replayed bool, err error) {
	k := keyOf(name, body, key, e.Now())
	leave, err := e.keyLocks.lock(ctx, k.Hash)
	if err != nil {
		return Receipt{}, false, err
	}
	defer leave()
	known, err := e.store.Key(ctx, k.Hash)
	if err == nil && known == nil {
		r, err = e.publish(ctx, name, body, k)
		if !errors.Is(err, ErrKeyTaken) {
			return r, false, err
		}
		known, err = e.store.Key(ctx, k.Hash) // of another daemon, which was faster
	}
	switch {
	case err != nil:
		return Receipt{}, false, err
	case known == nil: // its day has ended this moment
		return Receipt{}, false, overloaded()
	case known.Digest != k.Digest:
		return Receipt{}, false, errKeyOfAnother
	}
	return Receipt{known.Event, known.Count}, true, nil
}

// keyLocks lets those who publish under the same key go one after another.
type keyLocks struct {
	taken sync.Map // from a key's hash to a channel that is closed when its holder has left
}

// lock waits until no other caller publishes under a key.
func (l *keyLocks) lock(ctx context.Context, hash [32]byte) (unlock func(), err error) {
	mine := make(chan struct{})
	for {
		before, taken := l.taken.LoadOrStore(hash, mine)
		if !taken {
			return func() { l.taken.Delete(hash); close(mine) }, nil
		}
		select {
		case <-before.(chan struct{}):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// dropTaken answers those of a load whose keys other daemons have used, and
// takes them out of it.
func (e *Engine) dropTaken(ctx context.Context, l *batch) error {
	var rest []*publication
	for _, p := range l.publications {
		taken, err := e.taken(ctx, p)
		if err != nil {
			return err
		}
		if !taken {
			rest = append(rest, p)
			continue
		}
		p.done <- ErrKeyTaken
	}
	if len(rest) == len(l.publications) { // its day has ended this moment
		return fault.Because(ErrKeyTaken, fault.Unavailable, "an idempotency key has just ended; try again")
	}
	l.publications = rest
	return nil
}

func (e *Engine) taken(ctx context.Context, p *publication) (bool, error) {
	if p.key == nil {
		return false, nil
	}
	known, err := e.store.Key(ctx, p.key.Hash)
	return err == nil && known != nil && known.Event != p.event.GUID, err
}
