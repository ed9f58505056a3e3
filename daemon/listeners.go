package daemon

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"

	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// listeners are the addresses that the daemon serves on.
type listeners struct {
	config       config.Config
	log          *slog.Logger
	life         *lifecycle
	failed       chan error // a server that ended by itself
	certificates []*certificate
	closeStreams func()
}

// open begins to listen, with TLS where the settings name a certificate.
func (l *listeners) open(address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot listen: %w", err)
	}
	if l.config.TLS.Cert == "" {
		return listener, nil
	}
	pair, err := newCertificate(l.config.TLS, l.log)
	if err != nil {
		listener.Close()
		return nil, fmt.Errorf("tls.cert and tls.key: %w", err)
	}
	l.certificates = append(l.certificates, pair)
	return tls.NewListener(listener, &tls.Config{GetCertificate: pair.get, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}), nil
}

// headFactor is how far above the largest head allowed net/http gives up
// reading one. Up to there the reply that refuses it is ours.
const headFactor = 4

// serve serves on a listener. When it is stopped, requests in work may finish while
// the grace period lasts; streams are ended at once.
func (l *listeners) serve(name string, listener net.Listener, handler http.Handler) {
	c := l.config.HTTP
	server := &http.Server{
		Handler:                      handler,
		DisableGeneralOptionsHandler: true, // OPTIONS * is answered like any other path

		ReadHeaderTimeout: c.ReadHeaderTimeout,
		IdleTimeout:       c.IdleTimeout,
		MaxHeaderBytes:    headFactor * int(c.MaxHead),
		ConnContext:       edge.ConnContext,
		ErrorLog:          slog.NewLogLogger(l.log.Handler(), slog.LevelWarn),
	}
	server.RegisterOnShutdown(l.closeStreams)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := server.Serve(edge.Framed(listener, server.ErrorLog)); !errors.Is(err, http.ErrServerClosed) {
			l.failed <- fmt.Errorf("serving %s: %w", name, err)
		}
	}()
	l.life.onStop(name, func(ctx context.Context) error {
		defer func() { <-ended }()
		if err := server.Shutdown(ctx); err != nil {
			return errors.Join(err, server.Close())
		}
		return nil
	})
	l.log.Info("listening", "for", name, "address", listener.Addr().String())
}

// until has requests end with a context: a profile that is being taken, perhaps
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
