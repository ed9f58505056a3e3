package daemon

import (
	"context"
	"fmt"
	"strings"

	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/store"
)

// The states of what was looked at.
const (
	fine    = "ok"
	doubt   = "warning" // the service works, perhaps not as it is meant
	wrong   = "failed"  // the service cannot do all of its work
	skipped = "skipped" // it does not apply, or something else keeps it from being looked at
)

// verdict is what came of looking at one thing.
type verdict struct {
	Name   string // of the row
	Status string
	Detail string `json:",omitempty"`
}

// inspection is one run of a check.
type inspection struct {
	config  config.Config
	store   *store.Store // nil where it cannot be opened
	problem error        // why
}

// inspections is the table of what is looked at beside the record kinds, in the
// order in which it is told.
var inspections = []struct {
	name string
	look func(context.Context, *inspection) []verdict
}{
	{"data directory", lookAtDirectory},
	{"store", lookAtStore},
	{"clock", lookAtClock},
	{"certificate", lookAtCertificate},
	{"webhooks.host_url", lookAtHostURL},
	{"targets", lookAtTargets},
}

// inspect looks at everything in the table. What is fine is told once, what is
// not as often as it is so.
func (n *inspection) inspect(ctx context.Context) (all []verdict) {
	for _, row := range inspections {
		for _, v := range row.look(ctx, n) {
			v.Name = row.name
			all = append(all, v)
		}
	}
	return all
}

func is(status, format string, args ...any) []verdict {
	return []verdict{{Status: status, Detail: fmt.Sprintf(format, args...)}}
}

// String is the verdict as a line for people.
func (v verdict) String() string {
	return v.Name + ": " + strings.TrimSuffix(v.Status+", "+v.Detail, ", ")
}

func lookAtStore(_ context.Context, n *inspection) []verdict {
	if n.problem != nil {
		return is(wrong, "%v", n.problem)
	}
	return is(fine, "%s", n.config.Store)
}
