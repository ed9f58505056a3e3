package prove

import "context"

// Scratch creates a scratch schema, after dropping those of earlier runs, and drops it.
func Scratch(ctx context.Context, o Options) (figure string, err error) {
	s := &scratch{Options: o, ctx: ctx}
	defer s.close()
	return s.create()
}
