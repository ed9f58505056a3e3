package daemon

import (
	"context"
	"net/http"
	"net/http/pprof"

	"github.com/bizhook/whd/daemon/config"
)

// until has requests end with a context: a profile that somebody takes, perhaps
// for minutes, keeps the service from nothing when it is to stop.
func until(ending context.Context, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(ending, cancel)()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// profiles are those of net/http/pprof, but for the command line: it may hold a
// connection string.
func profiles() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.Handle("/debug/pprof/cmdline", http.NotFoundHandler())
	return mux
}

// fromHere refuses requests for another name than this host's: a page on the
// Internet whose name leads here would be let in by the browser. One of another
// name could not read what it gets, but have profiles taken all the time.
func fromHere(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !config.IsLoopback("//"+r.Host) || r.Header.Get("Sec-Fetch-Site") == "cross-site" {
			http.Error(w, "this is for this host only", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
