// Package sender makes delivery attempts over HTTP: it signs messages, checks each
// address before it connects, and reports the outcome.
package sender

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/webhook"
)

// Config configures a Sender.
type Config struct {
	Guard          webhook.Guard
	Outbound       webhook.Outbound
	UserAgent      string               // value of the header User-Agent
	ConnectTimeout time.Duration        // limit of establishing a connection
	AttemptTimeout func() time.Duration // limit of a whole attempt; called for each
	PingTimeout    time.Duration        // time limit for pings on HTTP/2 connections; 0 for the default
	MaxIdlePerHost int                  // idle connections kept per host
	MaxConnections int                  // open connections; 0 for no limit
	TestTarget     *url.URL             // the service's own test target, exempt from the guard; nil for none
}

// Sender makes attempts over HTTP.
type Sender struct {
	config       Config
	public       *route // to public addresses
	withPrivate  *route // also to private networks
	toTestTarget *route // to the service's own test target

	// Like public and withPrivate, with the client certificate.
	certifiedPublic  *route
	certifiedPrivate *route

	overdue atomic.Int64
}

// New returns a Sender. Connections are not shared between subscriptions that may reach
// private addresses and those that may not, nor between hosts to which the client certificate is
// offered and others.
func New(c Config) *Sender {
	c.PingTimeout = cmp.Or(c.PingTimeout, defaultPingTimeout)
	if c.Outbound.RootCAs == nil {
		// Go reads the system's certificates once, at their first use. If there were no
		// descriptor left then, no certificate would be valid until a restart. The start does not
		// wait for them: parsing takes some milliseconds.
		go x509.SystemCertPool()
	}
	s := &Sender{config: c}
	open := &connections{closeUnused: s.closeUnused}
	if c.MaxConnections > 0 {
		open.slots = make(chan struct{}, c.MaxConnections)
	}
	network := newNetwork()
	public := c.dialerFor(false)
	withPrivate := c.dialerFor(true)
	s.public = newRoute(c, open, network, public)
	s.withPrivate = newRoute(c, open, network, withPrivate)
	s.toTestTarget = newRoute(c, open, network, &net.Dialer{Timeout: c.ConnectTimeout})
	s.certifiedPublic = newCertifiedRoute(c, open, network, public)
	s.certifiedPrivate = newCertifiedRoute(c, open, network, withPrivate)
	return s
}

func (s *Sender) routes() []*route {
	return []*route{s.public, s.withPrivate, s.toTestTarget, s.certifiedPublic, s.certifiedPrivate}
}

// Close closes idle connections.
func (s *Sender) Close() {
	for _, r := range s.routes() {
		r.close()
	}
}

// closeUnused closes some or all of the idle connections, to make room for another one.
func (s *Sender) closeUnused(allPools bool) {
	for _, r := range s.routes() {
		r.closeUnused(allPools)
	}
}

// Overdue returns the number of requests that have not ended although their attempts have:
// neither cancelling them nor closing their responses had an effect.
func (s *Sender) Overdue() int { return int(s.overdue.Load()) }

// Send makes one attempt at the URL of the subscription, signed with the time at. It returns no
// later than closeTimeout after the limit of an attempt or the end of ctx, even if the peer never
// ends. Within one attempt the request is sent at most twice.
func (s *Sender) Send(
	ctx context.Context, m *webhook.Message, sub *webhook.Subscription, at time.Time,
) webhook.Outcome {
	began := time.Now()
	outcome := s.attempt(ctx, m, sub, at)
	outcome.Began = at.UTC()
	outcome.Took = time.Since(began)
	return outcome
}

func (s *Sender) attempt(
	ctx context.Context, m *webhook.Message, sub *webhook.Subscription, at time.Time,
) webhook.Outcome {
	limit := s.config.AttemptTimeout()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	request, err := s.request(ctx, m, sub, at)
	if err != nil {
		return webhook.Outcome{Cause: webhook.TargetForbidden, Detail: "the URL is invalid"}
	}

	pool := s.routeTo(request.URL, sub.MadeByAdmin).acquire(request.URL) // released by exchange.end
	x := &exchange{
		request:   request,
		body:      m.Event.Body,
		pool:      pool,
		limit:     limit,
		began:     time.Now(),
		storeTime: at,
		cancel:    cancel,
		overdue:   &s.overdue,
	}
	if !runWithin(ctx, closeTimeout, x.run, x.interrupt) {
		x.abandon()
	}
	return x.result()
}

func (s *Sender) routeTo(u *url.URL, byAdmin bool) *route {
	if webhook.IsTestTarget(s.config.TestTarget, u) {
		return s.toTestTarget
	}
	certified := s.config.Outbound.OffersCertificate(u.Hostname())
	switch {
	case certified && byAdmin:
		return s.certifiedPrivate
	case certified:
		return s.certifiedPublic
	case byAdmin:
		return s.withPrivate
	}
	return s.public
}

// request builds the POST request of Standard Webhooks. The subscription's headers are
// applied last: they may replace the content type and the attributes of CloudEvents.
func (s *Sender) request(
	ctx context.Context, m *webhook.Message, sub *webhook.Subscription, at time.Time,
) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, sub.URL, bytes.NewReader(m.Event.Body))
	if err != nil {
		return nil, err
	}
	req.GetBody = nil // with it, net/http would send the request up to seven times
	h := make(http.Header, 8+len(sub.Headers))
	h["Content-Type"] = []string{wire.BodyType(m.Event.Body)}
	h["User-Agent"] = []string{s.config.UserAgent}
	h[headerID] = []string{m.GUID}
	h[headerTimestamp] = []string{strconv.FormatInt(at.Unix(), 10)}
	if signature := sign(sub.SecretsAt(at), m.GUID, at, m.Event.Body); signature != "" {
		h[headerSignature] = []string{signature}
	}
	name, test := record.SentEvent(m.Event.Name)
	h[headerEvent] = []string{name}
	if test {
		h[headerTest] = []string{"true"}
	}
	if m.Replay {
		h[headerReplay] = []string{"true"}
	}
	if sub.Format == webhook.FormatCloudEvents {
		addCloudEvent(h, m.Event)
	}
	for i, header := range sub.Headers {
		sameName := func(before webhook.Header) bool { return strings.EqualFold(before.Name, header.Name) }
		if !slices.ContainsFunc(sub.Headers[:i], sameName) {
			h.Del(header.Name)
		}
		h.Add(header.Name, header.Value)
	}
	req.Header = h
	return req, nil
}

// Headers of https://www.standardwebhooks.com, in net/http's canonical form, and of
// this service.
const (
	headerID        = "Webhook-Id"
	headerTimestamp = "Webhook-Timestamp"
	headerSignature = "Webhook-Signature"
	headerEvent     = "X-Event-Name"
	headerTest      = "Webhook-Test" // reserved: subscriptions cannot set it
	headerReplay    = "Webhook-Replay"
)

// sign returns the value of the header Webhook-Signature, one signature for each secret.
// Invalid secrets are skipped; stored ones have been validated.
func sign(secrets []string, id string, at time.Time, body []byte) string {
	var all []byte
	head := append(strconv.AppendInt(append([]byte(id), '.'), at.Unix(), 10), '.')
	for _, secret := range secrets {
		key, err := webhook.ParseSecret(secret)
		if err != nil {
			continue
		}
		if all != nil {
			all = append(all, ' ')
		}
		mac := hmac.New(sha256.New, key)
		mac.Write(head)
		mac.Write(body)
		all = base64.StdEncoding.AppendEncode(append(all, "v1,"...), mac.Sum(nil))
	}
	return string(all)
}
