// Package sender makes delivery attempts over HTTP: it signs a message, checks
// each address before it connects, and reports the outcome.
package sender

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/webhook"
)

// Config configures a Sender.
type Config struct {
	Guard   webhook.Guard
	Agent   string               // of the header User-Agent
	Connect time.Duration        // limit of making a connection
	Attempt func() time.Duration // limit of an attempt as a whole, asked for each
	Idle    int                  // connections kept for one host
	Self    *url.URL             // the service's own test target, which the guard would refuse; nil for none
}

// Sender makes attempts over HTTP.
type Sender struct {
	config Config
	public *http.Client // to the Internet
	inside *http.Client // also to networks on the premises
	self   *http.Client // to the own test target
}

// New makes a Sender. Connections made for a subscription that
// may reach private addresses are not used for one that may not.
func New(c Config) *Sender {
	return &Sender{config: c,
		public: c.client(&net.Dialer{Timeout: c.Connect, Control: dialControl(c.Guard, false)}),
		inside: c.client(&net.Dialer{Timeout: c.Connect, Control: dialControl(c.Guard, true)}),
		self:   c.client(&net.Dialer{Timeout: c.Connect}),
	}
}

func (c Config) client(d *net.Dialer) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext:            d.DialContext,
			TLSHandshakeTimeout:    c.Connect,
			ForceAttemptHTTP2:      true,
			MaxIdleConnsPerHost:    c.Idle,
			IdleConnTimeout:        90 * time.Second,
			ExpectContinueTimeout:  time.Second,
			DisableCompression:     true, // so that a small answer stays small
			MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Close closes the connections that are kept.
func (s *Sender) Close() {
	for _, c := range []*http.Client{s.public, s.inside, s.self} {
		c.CloseIdleConnections()
	}
}

// Send makes one attempt. It is signed with the time at.
func (s *Sender) Send(ctx context.Context, m *webhook.Message, sub *webhook.Subscription, at time.Time) (o webhook.Outcome) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, s.config.Attempt())
	defer cancel()
	defer func() { o.Began, o.Took = at.UTC(), time.Since(began) }()
	req, err := s.request(ctx, m, sub, at)
	if err != nil {
		return webhook.Outcome{Cause: webhook.TargetForbidden, Detail: "the URL cannot be read"}
	}
	sent := time.Now()
	resp, err := s.clientFor(req.URL, m.MadeByAdmin).Do(req)
	if err != nil {
		return failure(ctx, err)
	}
	defer resp.Body.Close()
	o = webhook.Outcome{Code: resp.StatusCode, RetryAfter: retryAfter(resp.Header.Get("Retry-After"), at.Add(time.Since(sent)))}
	for _, request := range resp.Header.Values("Webhook-Delivery") {
		switch strings.ToLower(strings.TrimSpace(request)) {
		case "disable":
			o.Disable = true
		case "abort-message":
			o.Abort = true
		}
	}
	o.Text = readAnswer(resp.Body, cancel)
	return o
}

func (s *Sender) clientFor(u *url.URL, byAdmin bool) *http.Client {
	switch {
	case webhook.IsTestTarget(s.config.Self, u):
		return s.self
	case byAdmin:
		return s.inside
	}
	return s.public
}

// request is the POST of Standard Webhooks. The subscription's headers come
// last: they may replace the content type.
func (s *Sender) request(ctx context.Context, m *webhook.Message, sub *webhook.Subscription, at time.Time) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL, bytes.NewReader(m.Event.Body))
	if err != nil {
		return nil, err
	}
	h := make(http.Header, 8+len(sub.Headers))
	h["Content-Type"] = []string{"application/json; charset=utf-8"}
	h["User-Agent"] = []string{s.config.Agent}
	h[headerID] = []string{m.GUID}
	h[headerTimestamp] = []string{strconv.FormatInt(at.Unix(), 10)}
	if signature := sign(sub.SecretsAt(at), m.GUID, at, m.Event.Body); signature != "" {
		h[headerSignature] = []string{signature}
	}
	name, test := record.SentEvent(m.Event.Name)
	if h[headerEvent] = []string{name}; test {
		h[headerTest] = []string{"true"}
	}
	for i, header := range sub.HeadersFor(m.URL) {
		if !slices.ContainsFunc(sub.Headers[:i], func(before webhook.Header) bool { return strings.EqualFold(before.Name, header.Name) }) {
			h.Del(header.Name)
		}
		h.Add(header.Name, header.Value)
	}
	if h.Get(keyHeader) == "" {
		h[keyHeader] = []string{}
	}
	req.Header = h
	return req, nil
}

// keyHeader without a value is not sent, but lets net/http know that a request which
// met a connection that the peer had closed may go out once more on another.
const keyHeader = "Idempotency-Key"

// The bounds of what is read of an answer.
const (
	answerRead = 64 << 10 // so that the connection can be used again
	answerKept = 4 << 10  // for people
	answerTime = 2 * time.Second
)

// readAnswer reads an answer's body and keeps its beginning. The status was
// there before it, so a body that does not end changes nothing.
func readAnswer(body io.Reader, cancel context.CancelFunc) []byte {
	timer := time.AfterFunc(answerTime, cancel)
	defer timer.Stop()
	kept, _ := io.ReadAll(io.LimitReader(body, answerKept))
	if len(kept) == answerKept {
		_, _ = io.CopyN(io.Discard, body, answerRead-answerKept)
	}
	return bytes.ToValidUTF8(kept, []byte("\uFFFD"))
}

// failure is the outcome of an attempt without an answer.
func failure(ctx context.Context, err error) webhook.Outcome {
	if e, is := errors.AsType[*url.Error](err); is {
		err = e.Err // the rest repeats the URL
	}
	return webhook.Outcome{Cause: cause(ctx, err), Detail: err.Error()}
}

func cause(ctx context.Context, err error) webhook.Cause {
	var timeout interface{ Timeout() bool }
	switch {
	case errors.Is(err, webhook.ErrForbidden):
		return webhook.TargetForbidden
	case errors.As(err, &timeout) && timeout.Timeout() || ctx.Err() != nil:
		return webhook.TimedOut
	case isA[*net.DNSError](err):
		return webhook.NameNotFound
	case errors.Is(err, syscall.ECONNREFUSED):
		return webhook.ConnectionRefused
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return webhook.ConnectionReset
	case isTLS(err):
		return webhook.TLSFailed
	case isProtocol(err):
		return webhook.BadAnswer
	}
	return webhook.NetworkFailed
}

func isA[E error](err error) bool {
	_, is := errors.AsType[E](err)
	return is
}

func isTLS(err error) bool {
	return isA[tls.RecordHeaderError](err) || isA[tls.AlertError](err) || isA[*tls.CertificateVerificationError](err) || isA[x509.HostnameError](err) ||
		strings.HasPrefix(err.Error(), "tls: ") || strings.Contains(err.Error(), "server gave HTTP response to HTTPS client")
}

func isProtocol(err error) bool {
	return isA[textproto.ProtocolError](err) || strings.Contains(err.Error(), "malformed HTTP") ||
		strings.Contains(err.Error(), "1xx") || strings.Contains(err.Error(), "response headers exceeded")
}

// retryAfter reads the header's seconds or date. Rubbish is nothing.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(strings.TrimSpace(text), 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// dialControl is a net.Dialer's Control: it checks each address before a
// connection to it is made.
func dialControl(g webhook.Guard, private bool) func(network, address string, _ syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return fmt.Errorf("%w: %s is no address", webhook.ErrForbidden, address)
		}
		return g.Check(to, private)
	}
}

// The headers of https://www.standardwebhooks.com, in the form that net/http
// keeps headers in, and ours.
const (
	headerID        = "Webhook-Id"
	headerTimestamp = "Webhook-Timestamp"
	headerSignature = "Webhook-Signature"
	headerEvent     = "X-Event-Name"
	headerTest      = "Webhook-Test" // a name that no subscription's own header may have
)

// sign makes the value of the signature header: one signature for each secret.
// Secrets that cannot be read sign nothing; what is stored was checked.
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
