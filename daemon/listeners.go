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
	"net/netip"
	"syscall"

	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/webhook/sender"
)

// listeners opens the addresses that the daemon serves on.
type listeners struct {
	config       config.Config
	log          *slog.Logger
	lifecycle    *lifecycle
	failed       chan error    // errors of servers that ended without Shutdown
	clients      *edge.Clients // connections to all addresses
	heads        *edge.Heads   // heads of requests on all connections
	certificates []*certificate
	main         net.Addr // address of the main listener; nil until it is open
}

// openMain opens the main listener.
func (l *listeners) openMain() (net.Listener, error) {
	listener, err := l.open("listen", l.config.Listen)
	if err != nil {
		return nil, err
	}
	l.main = listener.Addr()
	return listener, nil
}

// isMainAddress reports whether connections to an address reach the main listener.
func (l *listeners) isMainAddress(target netip.AddrPort) bool { return sender.Reaches(l.main, target) }

// open listens on the address in a setting, with TLS if a certificate is configured.
func (l *listeners) open(setting, address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, listenError(setting, err)
	}
	listener = l.clients.Listener(listener)
	if l.config.TLS.Cert == "" {
		return listener, nil
	}
	pair, err := newCertificate(l.config.TLS, l.log)
	if err != nil {
		listener.Close()
		return nil, err
	}
	l.certificates = append(l.certificates, pair)
	return tls.NewListener(listener, &tls.Config{
		GetCertificate: pair.get,
		MinVersion:     tls.VersionTLS12,
		NextProtos:     []string{"http/1.1"},
	}), nil
}

// listenError returns the error for the address in a setting that cannot be listened on.
func listenError(setting string, err error) error {
	if errors.Is(err, accessDenied) {
		return fmt.Errorf("cannot listen: %w; Windows has reserved the port, or another program uses it alone:"+
			" netsh int ipv4 show excludedportrange protocol=tcp lists the reserved ports;"+
			" the setting %s selects another one", err, setting)
	}
	return fmt.Errorf("cannot listen: %w; the setting %s selects another address", err, setting)
}

// accessDenied is WSAEACCES of Windows, which other systems do not use. Hyper-V and WSL reserve ranges
// of ports that differ after every restart of the machine.
const accessDenied = syscall.Errno(10013)

// serve serves on a listener in a goroutine. On shutdown, requests in flight may
// finish within the grace period; closeStreams is called immediately.
func (l *listeners) serve(name string, listener net.Listener, handler http.Handler, closeStreams func()) {
	c := l.config.HTTP
	server := &http.Server{
		Handler:                      handler,
		DisableGeneralOptionsHandler: true, // OPTIONS * is handled like any other path

		ReadHeaderTimeout: c.ReadHeaderTimeout,
		IdleTimeout:       c.IdleTimeout,
		MaxHeaderBytes:    l.heads.Max(),
		ConnContext:       edge.ConnContext,
		ConnState:         edge.ConnState,
		ErrorLog:          slog.NewLogLogger(l.log.Handler(), slog.LevelWarn),
	}
	server.RegisterOnShutdown(closeStreams)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		err := server.Serve(edge.Framed(listener, l.heads, server.ErrorLog))
		if !errors.Is(err, http.ErrServerClosed) {
			l.failed <- fmt.Errorf("serving %s: %w", name, err)
		}
	}()
	l.lifecycle.onStop(name, func(ctx context.Context) error {
		defer func() { <-ended }()
		if err := server.Shutdown(ctx); err != nil {
			return errors.Join(err, server.Close())
		}
		return nil
	})
	l.log.Info("listening", "for", name, "address", listener.Addr().String())
}

// cancelWith cancels requests when ending is done, so that a profile, which can take
// minutes, does not delay the shutdown.
func cancelWith(ending context.Context, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		stopWatching := context.AfterFunc(ending, cancel)
		defer stopWatching()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// profiles returns the handlers of net/http/pprof except cmdline: the command line
// may contain a connection string.
func profiles() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.Handle("/debug/pprof/cmdline", http.NotFoundHandler())
	return mux
}

// localOnly rejects requests for other host names than this host's, which protects
// against DNS rebinding, and cross-site requests of browsers: a foreign page could
// not read a profile, but could start one after the other.
func localOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !config.IsLoopback("//"+r.Host) || r.Header.Get("Sec-Fetch-Site") == "cross-site" {
			http.Error(w, "available from this host only", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
