package rest

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/live"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// features are what a client may ask for before it relies on it, by one path of
// each. A feature is there where its path is.
var features = []struct{ name, pattern string }{
	{"bills", "/Bills/{BillID}/Stages/{StageID}/CustomFieldValues"},
	{"requestlog", "/Logs"},
	{"settings", "/Settings"},
	{"webhooks", "/Webhooks/Events"},
	{"bulk", "/Webhooks/Messages/Retry"},
	{"stats", "/Webhooks/Stats"},
	{"stream", "/Webhooks/Stream"},
}

// info says what everybody may know of the service. What would help a stranger
// to choose an attack, such as the kind of its store, is not among it.
func (s *Server) info(x *edge.Context) error {
	now := x.Timing.Start.In(s.zone(x))
	return x.Document(http.StatusOK, "Info", wire.Info{
		Version: s.config.Version, ServerTime: now.Format(serverTime), ServerDateTime: wire.Moment(now),
		Features: s.features(), Limits: s.limits(x), WebhooksHostURL: s.config.HostURL,
	})
}

// serverTime is RFC 3339 with milliseconds, which is what the other form has.
const serverTime = "2006-01-02T15:04:05.000Z07:00"

// zone is that of the records' zoneless times.
func (s *Server) zone(x *edge.Context) *time.Location {
	if x.Options.Query.Zone == nil {
		return time.Local
	}
	return x.Options.Query.Zone
}

func (s *Server) features() []string {
	var names []string
	table := s.routes()
	for _, f := range features {
		i := slices.IndexFunc(table, func(r edge.Route) bool { return strings.EqualFold(r.Pattern, f.pattern) })
		off := i < 0 || table[i].Webhooks && s.config.Engine == nil || f.name == "requestlog" && s.config.RequestLog == nil
		if !off {
			names = append(names, f.name)
		}
	}
	return names
}

func (s *Server) limits(x *edge.Context) wire.Limits {
	l := wire.Limits{
		MaxTake: x.Options.Query.MaxTake, MaxIn: query.MaxIn, MaxBody: s.config.MaxBody, MaxHead: s.config.MaxHead,
	}
	if s.config.Engine != nil {
		l.MaxEventBody, l.MaxStreams = edge.EventFactor*s.config.MaxBody, live.MostReaders
	}
	return l
}

// settings lists the settings that may change while the service runs.
func (s *Server) settings(x *edge.Context) error {
	all := s.config.Settings()
	return x.List("Settings", all, len(all))
}
