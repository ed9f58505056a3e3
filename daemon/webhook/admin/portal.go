package admin

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/webhook"
)

// PortalStore stores the sessions of subscribers on their pages. Methods return webhook.NoVisitor
// for subscribers that do not exist or are disabled, and for sessions that have ended.
type PortalStore interface {
	EnabledSubscriber(ctx context.Context, guid string) (webhook.Visitor, error)
	// AddPortalSession ends the oldest sessions of the subscriber beyond a limit.
	AddPortalSession(ctx context.Context, s PortalSession, limit int) error
	Visitor(ctx context.Context, hash string, now time.Time) (webhook.Visitor, error)
	// RemovePortalSession ends a session. A session that has ended is not an error.
	RemovePortalSession(ctx context.Context, hash string) error
}

// PortalSession is a session of a subscriber on its pages.
type PortalSession struct {
	Hash           string // of its secret, in hex
	Subscriber     string // GUID
	Added, Expires time.Time
}

// Portal starts, finds and ends the sessions of subscribers on their pages. Each request looks its
// session up in the store, so that all daemons on the store know it, and its end takes effect at
// once.
type Portal struct {
	store PortalStore
	now   func() time.Time
}

// NewPortal returns a Portal. now returns the time of the store's clock.
func NewPortal(s PortalStore, now func() time.Time) *Portal { return &Portal{s, now} }

const (
	// maxPortalSessions limits the sessions of a subscriber.
	maxPortalSessions = 1000

	portalSecretBytes  = 32
	portalSecretLength = 43 // characters of base64url
)

// Subscriber returns the subscriber for which a page would open.
func (p *Portal) Subscriber(ctx context.Context, subscriberID string) (webhook.Visitor, error) {
	g, err := wire.ParseGuid(subscriberID)
	if err != nil {
		return webhook.Visitor{}, webhook.NoVisitor()
	}
	return p.store.EnabledSubscriber(ctx, g)
}

// Start starts a session and returns its secret. Only a hash of it is stored.
func (p *Portal) Start(ctx context.Context, subscriberID string) (secret string, err error) {
	g, err := wire.ParseGuid(subscriberID)
	if err != nil {
		return "", webhook.NoVisitor()
	}
	var random [portalSecretBytes]byte
	rand.Read(random[:]) // never fails: the runtime aborts instead
	secret = base64.RawURLEncoding.EncodeToString(random[:])
	now := p.now()
	err = p.store.AddPortalSession(ctx, PortalSession{
		Hash:       portalHash(secret),
		Subscriber: g,
		Added:      now,
		Expires:    now.Add(webhook.PortalLifetime),
	}, maxPortalSessions)
	return secret, err
}

// Visitor returns the subscriber of a session.
func (p *Portal) Visitor(ctx context.Context, secret string) (webhook.Visitor, error) {
	if len(secret) != portalSecretLength {
		return webhook.Visitor{}, webhook.NoVisitor()
	}
	return p.store.Visitor(ctx, portalHash(secret), p.now())
}

// End ends a session. A session that has ended is not an error.
func (p *Portal) End(ctx context.Context, secret string) error {
	if len(secret) != portalSecretLength {
		return nil
	}
	return p.store.RemovePortalSession(ctx, portalHash(secret))
}

// portalHash returns the hash of a secret that is stored. The secret is random, so that a plain
// hash suffices.
func portalHash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
