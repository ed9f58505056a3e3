package preflight

import (
	"cmp"
	"context"
	"crypto/tls"
	"net/url"
	"slices"
	"time"

	"github.com/bizhook/whd/client/check"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/sender"
)

// newSender returns a sender with the settings of the service.
func (r *run) newSender() (*sender.Sender, error) {
	c := r.config.Webhooks
	outbound, err := c.Way.Outbound()
	if err != nil {
		return nil, err
	}
	if c.Way.Client.Cert != "" {
		outbound.Certificate = func() (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(c.Way.Client.Cert, c.Way.Client.Key)
			return &pair, err
		}
	}
	return sender.New(sender.Config{
		Guard:          webhook.Guard{Allow: c.AllowTargets},
		Outbound:       outbound,
		UserAgent:      "whd check",
		ConnectTimeout: c.ConnectTimeout,
		AttemptTimeout: func() time.Duration { return c.AttemptTimeout },
		TestTarget:     c.TestTarget(),
	}), nil
}

// checkCAFile reads webhooks.ca_file.
func checkCAFile(_ context.Context, r *run) []check.Result {
	way := r.config.Webhooks.Way
	if way.CAFile == "" || !r.config.Webhooks.Enabled {
		return result(check.Skipped, "")
	}
	_, err := way.Outbound()
	if err != nil {
		return result(check.Failed, "%v", err)
	}
	return result(check.OK, "%s", way.CAFile)
}

// maxTried is the maximum number of receivers to which a check connects.
const maxTried = 10

// checkProxy connects to the proxy, and through it to the receivers of some subscriptions. It sends
// no request to them.
func checkProxy(ctx context.Context, r *run) []check.Result {
	way := r.config.Webhooks.Way
	if way.Proxy == "" || !r.config.Webhooks.Enabled {
		return result(check.Skipped, "")
	}
	s, err := r.newSender()
	if err != nil {
		return result(check.Failed, "%v", err)
	}
	defer s.Close()
	err = s.ConnectProxy(ctx)
	if err != nil {
		return result(check.Failed, "%s: %v", way.Proxy, err)
	}

	var problems []check.Result
	receivers := r.receivers(ctx)
	tried := receivers[:min(len(receivers), maxTried)]
	for _, receiver := range tried {
		_, err := s.Connect(ctx, receiver.url, receiver.byAdmin)
		if err != nil {
			problems = append(problems, result(check.Warning, "%s: %v", receiver.url.Host, err)...)
		}
	}
	if problems == nil {
		return result(check.OK, "%s accepts connections; %d receivers tried", way.Proxy, len(tried))
	}
	return problems
}

// receiver is the origin of the URLs of subscriptions.
type receiver struct {
	url     *url.URL
	byAdmin bool
}

// receivers returns the receivers of active subscriptions, each once. There are none if the store
// cannot be read, which has a check of its own.
func (r *run) receivers(ctx context.Context) []receiver {
	if r.store == nil || r.store.AppDB.Ready(ctx) != nil {
		return nil
	}
	snapshot, err := r.store.Webhooks.Engine.Snapshot(ctx)
	if err != nil {
		return nil
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
	return receivers
}

// checkClientCertificate checks the client certificate, and makes a TLS handshake with the
// receivers that it is for.
func checkClientCertificate(ctx context.Context, r *run) []check.Result {
	way := r.config.Webhooks.Way
	if way.Client.Cert == "" || !r.config.Webhooks.Enabled {
		return result(check.Skipped, "")
	}
	pair, err := tls.LoadX509KeyPair(way.Client.Cert, way.Client.Key)
	if err != nil {
		return result(check.Failed, "%v", err)
	}
	results := validity(pair.Leaf.NotAfter)
	if len(way.ClientCertHosts) == 0 {
		return append(results, result(check.Warning,
			"no receiver gets it; list those that require it in webhooks.client_cert_hosts")...)
	}
	s, err := r.newSender()
	if err != nil {
		return append(results, result(check.Failed, "%v", err)...)
	}
	defer s.Close()
	for _, receiver := range r.certified(ctx) {
		requested, err := s.Connect(ctx, receiver.url, receiver.byAdmin)
		if err != nil {
			results = append(results, result(check.Warning, "%s: %v", receiver.url.Host, err)...)
		} else if !requested {
			results = append(results, result(check.Warning, "%s does not request it", receiver.url.Host)...)
		}
	}
	return results
}

// certified returns the receivers that get the client certificate: those of subscriptions, and for
// a host without one its standard port.
func (r *run) certified(ctx context.Context) []receiver {
	var certified []receiver
	subscribed := r.receivers(ctx)
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
