package rest

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/live"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// features are the names that clients use to detect optional features. A feature is
// available if the route with its pattern exists.
var features = []struct{ name, pattern string }{
	{"bills", "/Bills/{BillID}/Stages/{StageID}/CustomFieldValues"},
	{"requestlog", "/Logs"},
	{"settings", "/Settings"},
	{"webhooks", "/Webhooks/Events"},
	{"changes", "/Queries/{Kind}/Changes"},
	{"bulk", "/Webhooks/Messages/Retry"},
	{"stats", "/Webhooks/Stats"},
	{"stream", "/Webhooks/Stream"},
}

// info has the handlers of the public service information and of the settings.
type info struct {
	known    wire.Info // without the time and MaxTake
	settings func() []wire.Setting
	store    Store
}

func newInfo(c Config, table []operation) info {
	limits := wire.Limits{MaxIn: query.MaxIn, MaxBody: c.Edge.MaxBody, MaxHead: c.Edge.MaxHead}
	if c.Engine != nil {
		limits.MaxEventBody = edge.EventFactor * c.Edge.MaxBody
		limits.MaxStreams = live.MaxReaders
	}
	known := wire.Info{Version: c.Version, WebhooksHostURL: c.Edge.HostURL, Limits: limits}
	for _, f := range features {
		r, ok := routeOf(table, f.pattern)
		if ok && c.offers(f.name, r) {
			known.Features = append(known.Features, f.name)
		}
	}
	return info{settings: c.Settings, store: c.Store, known: known}
}

// routeOf returns the route with a pattern, and false if no operation has one.
func routeOf(table []operation, pattern string) (edge.Route, bool) {
	for _, o := range table {
		for _, r := range o.routes {
			if strings.EqualFold(r.Pattern, pattern) {
				return r, true
			}
		}
	}
	return edge.Route{}, false
}

// offers reports whether the feature with a route is enabled.
func (c Config) offers(feature string, route edge.Route) bool {
	if route.Webhooks && c.Engine == nil {
		return false
	}
	switch feature {
	case "requestlog":
		return c.RequestLog != nil
	case "changes":
		return c.Feed != nil
	}
	return true
}

// serverTime is RFC 3339 with milliseconds, the precision of ServerDateTime.
const serverTime = "2006-01-02T15:04:05.000Z07:00"

// show returns the public information about the service. It excludes anything that
// helps an attacker, such as the kind of the store. ServerTime is in the time zone
// of the records.
func (h *info) show(x *edge.Context) error {
	now := x.Timing.Start.In(cmp.Or(x.Options.Query.Zone, time.Local))
	i := h.known
	i.ServerTime = now.Format(serverTime)
	i.ServerDateTime = wire.Timestamp(now)
	i.Limits.MaxTake = x.Options.Query.MaxTake
	i.PublicURL = x.Options.PublicURL
	if x.Options.Portal {
		i.Features = append(slices.Clip(i.Features), wire.FeaturePortal)
	}
	return x.Document(http.StatusOK, "Info", i)
}

// system returns the time and the versions under the names of the reference service.
func (h *info) system(x *edge.Context) error {
	version, err := h.store.ERPVersion(x.Request.Context())
	if err != nil {
		return err
	}
	now := x.Timing.Start.In(cmp.Or(x.Options.Query.Zone, time.Local))
	return x.Document(http.StatusOK, "SystemInfo", wire.SystemInfo{
		JiwaVersion:       version,
		SQLServerDateTime: wire.DateTime(now.Format(wire.DateLayout)),
		Version:           h.known.Version,
	})
}

// listSettings returns the settings that may change while the service runs.
func (h *info) listSettings(x *edge.Context) error {
	return edge.List(x, "Settings", h.settings(), nil, func(s wire.Setting) wire.Setting { return s })
}
