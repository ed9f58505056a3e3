package rest

import (
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"time"
)

// logAccess writes one line for each request. Health checks are left to the
// debug level.
func (s *Server) logAccess(x *exchange) {
	level := slog.LevelInfo
	if x.route != nil && x.route.always {
		level = slog.LevelDebug
	}
	ctx := x.r.Context()
	if !s.Log.Enabled(ctx, level) {
		return
	}
	s.Log.LogAttrs(ctx, level, "request",
		slog.String("id", x.id),
		slog.String("method", x.r.Method),
		slog.String("path", bounded(x.r.URL.EscapedPath())),
		slog.String("query", bounded(maskQuery(x.r.URL.RawQuery))),
		slog.Int("status", x.w.status),
		slog.Int64("bytes", x.w.bytes),
		slog.Bool("aborted", x.w.aborted),
		slog.Float64("ms", float64(time.Since(x.start).Microseconds())/1000),
		slog.String("user", x.who.Name),
		slog.String("address", x.address))
}

// bounded keeps a line to a length that a log can bear.
func bounded(text string) string {
	const most = 2000
	if len(text) > most {
		return text[:most] + "..."
	}
	return text
}

// maskedMembers are the members whose values reach no log.
var maskedMembers = []string{"password", "username", "apikey", "headers"}

// maskQuery writes stars for the values of members that may hold secrets, and
// for everything else that speaks of one: whoever got the form of a query
// string wrong did not mean to publish a password.
func maskQuery(raw string) string {
	pairs := strings.Split(raw, "&")
	for i, pair := range pairs {
		text, err := url.QueryUnescape(pair)
		name, _, _ := strings.Cut(text, "=")
		switch {
		case err != nil:
			pairs[i] = "***"
		case isMasked(name):
			pairs[i] = url.QueryEscape(name) + "=***"
		case speaksOfSecret(text):
			pairs[i] = "***"
		}
	}
	return strings.Join(pairs, "&")
}

func isMasked(name string) bool {
	return slices.ContainsFunc(maskedMembers, func(secret string) bool { return strings.EqualFold(name, secret) })
}

func speaksOfSecret(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(maskedMembers, func(secret string) bool { return strings.Contains(text, secret) })
}
