package preflight

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/bizhook/whd/client/check"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/sender"
)

// outbound returns the way to receivers. Each connection loads the client certificate, so that one
// that cannot be loaded only concerns the receivers that get it.
func (r *run) outbound() (webhook.Outbound, error) {
	return r.config.Webhooks.Way.Outbound(func(files config.TLSConfig) (webhook.ClientCertificate, error) {
		return func() (*tls.Certificate, error) {
			pair, err := files.Load()
			return &pair, err
		}, nil
	})
}

// newSender returns a sender with the settings of the service.
func (r *run) newSender(outbound webhook.Outbound) *sender.Sender {
	c := r.config.Webhooks
	return sender.New(sender.Config{
		Guard:          webhook.Guard{Allow: c.AllowTargets},
		Outbound:       outbound,
		UserAgent:      "whd check",
		ConnectTimeout: c.ConnectTimeout,
		AttemptTimeout: func() time.Duration { return c.AttemptTimeout },
		TestTarget:     c.TestTarget(),
	})
}

// checkCAFile reads webhooks.ca_file.
func checkCAFile(_ context.Context, r *run) []check.Result {
	way := r.config.Webhooks.Way
	if way.CAFile == "" || !r.config.Webhooks.Enabled {
		return result(check.Skipped, "")
	}
	_, err := r.outbound()
	if err != nil {
		return result(check.Failed, "%v", err)
	}
	return result(check.OK, "%s", way.CAFile)
}

// maxTried is the maximum number of receivers to which a check connects.
const maxTried = 10

// checkProxy connects to the proxy, and to the receivers of some subscriptions, through it, or directly because of
// webhooks.no_proxy. It sends no request to them.
func checkProxy(ctx context.Context, r *run) []check.Result {
	way := r.config.Webhooks.Way
	if way.Proxy == "" || !r.config.Webhooks.Enabled {
		return result(check.Skipped, "")
	}
	outbound, err := r.outbound()
	if err != nil {
		return result(check.Failed, "%v", err)
	}
	s := r.newSender(outbound)
	defer s.Close()
	err = s.ConnectProxy(ctx)
	if err != nil {
		return result(check.Failed, "%s: %v", way.Proxy, err)
	}
	receivers, err := r.receivers(ctx)
	if err != nil {
		return result(check.Warning, "%s accepts connections; no receiver was tried: %v", way.Proxy, err)
	}

	var problems []check.Result
	tunnelled, direct := 0, 0
	for _, receiver := range receivers[:min(len(receivers), maxTried)] {
		link, err := s.Connect(ctx, receiver.url, receiver.byAdmin)
		switch {
		case err != nil:
			problems = append(problems, result(check.Warning, "%s: %v", receiver.url.Host, err)...)
		case link.Tunnelled:
			tunnelled++
		default:
			direct++
		}
	}
	reached := result(check.OK,
		"%s accepts connections; receivers reached through it: %d; directly, by webhooks.no_proxy: %d",
		way.Proxy, tunnelled, direct)
	return append(reached, problems...)
}

// receiver is the origin of the URLs of subscriptions.
type receiver struct {
	url     *url.URL
	byAdmin bool
}

// errNoStore is the error of a check of receivers without a store, which has a check of its own.
var errNoStore = errors.New("the subscriptions cannot be read, since the store cannot be opened")

// receivers returns the receivers of active subscriptions, each once.
func (r *run) receivers(ctx context.Context) ([]receiver, error) {
	if r.store == nil {
		return nil, errNoStore
	}
	err := r.store.AppDB.Ready(ctx)
	if err != nil {
		return nil, fmt.Errorf("the subscriptions cannot be read: %w", err)
	}
	snapshot, err := r.store.Webhooks.Engine.Snapshot(ctx)
	if err != nil {
		return nil, fmt.Errorf("the subscriptions cannot be read: %w", err)
	}

	var receivers []receiver
	byID := func(a, b *webhook.Subscription) int { return cmp.Compare(a.ID, b.ID) }
	for _, sub := range slices.SortedFunc(snapshot.Subscriptions, byID) {
		u, err := url.Parse(sub.URL)
		if err != nil || !sub.Active() || webhook.IsTestTarget(r.config.Webhooks.TestTarget(), u) {
			continue
		}
		isSame := func(other receiver) bool {
			return other.byAdmin == sub.MadeByAdmin && other.url.Scheme == u.Scheme && other.url.Host == u.Host
		}
		if !slices.ContainsFunc(receivers, isSame) {
			receivers = append(receivers, receiver{url: u, byAdmin: sub.MadeByAdmin})
		}
	}
	return receivers, nil
}

// checkClientCertificate checks the client certificate, and makes a TLS handshake with the
// receivers that it is for.
func checkClientCertificate(ctx context.Context, r *run) []check.Result {
	way := r.config.Webhooks.Way
	if way.Client.Cert == "" || !r.config.Webhooks.Enabled {
		return result(check.Skipped, "")
	}
	outbound, err := r.outbound()
	if err != nil {
		return result(check.Failed, "%v", err)
	}
	pair, err := outbound.Certificate()
	if err != nil {
		return result(check.Failed, "%v", err)
	}
	results := validity(pair.Leaf, time.Now())
	if len(way.ClientCertHosts) == 0 {
		return append(results, result(check.Warning,
			"no receiver gets it; list those that require it in webhooks.client_cert_hosts")...)
	}
	receivers, err := r.receivers(ctx)
	if err != nil {
		return append(results, result(check.Warning, "no receiver was tried: %v", err)...)
	}
	s := r.newSender(outbound)
	defer s.Close()
	for _, receiver := range r.certified(receivers) {
		link, err := s.Connect(ctx, receiver.url, receiver.byAdmin)
		if err != nil {
			results = append(results, result(check.Warning, "%s: %v", receiver.url.Host, err)...)
		} else if !link.Certified {
			results = append(results, result(check.Warning, "%s does not request it", receiver.url.Host)...)
		}
	}
	return results
}

// certified returns the receivers that get the client certificate: those of subscriptions, and for
// a host without one its standard port.
func (r *run) certified(subscribed []receiver) []receiver {
	var certified []receiver
	for _, host := range r.config.Webhooks.Way.ClientCertHosts {
		before := len(certified)
		for _, receiver := range subscribed {
			if receiver.url.Scheme == "https" && webhook.SameHost(receiver.url.Hostname(), host) {
				certified = append(certified, receiver)
			}
		}
		if len(certified) == before {
			certified = append(certified, receiver{url: &url.URL{Scheme: "https", Host: host}, byAdmin: true})
		}
	}
	return certified[:min(len(certified), maxTried)]
}
