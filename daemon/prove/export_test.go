package prove

import "context"

// Scratch creates a scratch schema, after dropping those of earlier runs, and drops it.
func Scratch(ctx context.Context, o Options) (figure string, err error) {
	s := &scratch{ctx: ctx, store: o.Store, maxAge: o.MaxAge, slower: o.Slower}
	defer s.close()
	return s.create()
}
