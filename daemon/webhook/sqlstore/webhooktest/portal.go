package webhooktest

import (
	"fmt"
	"time"

	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook/admin"
)

// portalSessions starts sessions of subscribers, which other daemons know, and ends them in each way.
func portalSessions(h hooks) {
	ctx := h.t.Context()
	shop := h.addSubscriber("Shop")
	depot := h.addSubscriber("Depot")
	hour := noon.Add(time.Hour)
	start := func(hash, subscriber string, added time.Time) {
		h.t.Helper()
		h.check(h.Portal.AddPortalSession(ctx, portalSession(hash, subscriber, added), 3))
	}

	start("a", shop.GUID, noon)
	start("b", shop.GUID, noon.Add(time.Minute))
	start("c", depot.GUID, noon)
	h.expectVisitor("a session", "a", noon, shop.Name)
	h.expectVisitor("a session of another subscriber", "c", noon, depot.Name)
	h.expectVisitor("an unknown session", "x", noon, "")
	h.expectVisitor("a session just before its end", "a", hour.Add(-time.Microsecond), shop.Name)
	h.expectVisitor("a session at its end", "a", hour, "")
	other := hooks{Store: h.reopen().Webhooks, t: h.t}
	other.expectVisitor("a session at another daemon", "a", noon, shop.Name)

	h.check(h.Portal.RemovePortalSession(ctx, "a"))
	h.check(h.Portal.RemovePortalSession(ctx, "a"))
	other.expectVisitor("a session that has been left", "a", noon, "")
	h.expectVisitor("another session of the subscriber", "b", noon, shop.Name)

	// The oldest sessions beyond the limit end, and those that have expired.
	for i := range 3 {
		start(fmt.Sprint("d", i), shop.GUID, noon.Add(time.Duration(2+i)*time.Minute))
	}
	h.expectVisitor("the oldest session beyond the limit", "b", noon, "")
	h.expectVisitor("the oldest session within the limit", "d0", noon, shop.Name)
	start("e", depot.GUID, hour)
	h.expectVisitor("an expired session after another has been added", "c", noon, "")
	h.expectVisitor("a session that has not expired", "d2", noon, shop.Name)

	// A subscriber that is disabled has no sessions, also after it has been enabled again.
	h.enable(shop, false)
	h.expectVisitor("a session of a disabled subscriber", "d2", noon, "")
	h.expectVisitor("a session of an enabled subscriber", "e", hour, depot.Name)
	h.expectNoVisitor("a new session of a disabled subscriber",
		h.Portal.AddPortalSession(ctx, portalSession("f", shop.GUID, noon), 3))
	_, err := h.Portal.EnabledSubscriber(ctx, shop.GUID)
	h.expectNoVisitor("a disabled subscriber", err)
	h.enable(shop, true)
	h.expectVisitor("a session after the subscriber has been enabled again", "d2", noon, "")
	found, err := h.Portal.EnabledSubscriber(ctx, shop.GUID)
	h.check(err)
	if found.Subscriber != shop.GUID || found.Name != shop.Name {
		h.t.Errorf("the enabled subscriber is %+v, want %s with its ID %s", found, shop.Name, shop.GUID)
	}

	removed, err := h.Admin.RemoveSubscriber(ctx, depot.GUID, auditEntry())
	h.check(err)
	if !removed {
		h.t.Error("the subscriber was not removed")
	}
	h.expectVisitor("a session of a removed subscriber", "e", hour, "")
	h.expectNoVisitor("a new session of a removed subscriber",
		h.Portal.AddPortalSession(ctx, portalSession("g", depot.GUID, noon), 3))
}

// portalSession returns a session of an hour.
func portalSession(hash, subscriber string, added time.Time) admin.PortalSession {
	return admin.PortalSession{Hash: hash, Subscriber: subscriber, Added: added, Expires: added.Add(time.Hour)}
}

// addSubscriber adds an enabled subscriber.
func (h hooks) addSubscriber(name string) admin.Subscriber {
	h.t.Helper()
	s, err := h.Admin.AddSubscriber(h.t.Context(), admin.Subscriber{Name: name, Enabled: true}, auditEntry())
	h.check(err)
	return s
}

// enable enables or disables a subscriber.
func (h hooks) enable(s admin.Subscriber, enabled bool) {
	h.t.Helper()
	_, err := h.Admin.ChangeSubscriber(h.t.Context(), s.GUID, admin.SubscriberChange{Enabled: &enabled}, auditEntry())
	h.check(err)
}

// expectVisitor checks the subscriber of a session, by its name; empty for none.
func (h hooks) expectVisitor(name, hash string, now time.Time, want string) {
	h.t.Helper()
	v, err := h.Portal.Visitor(h.t.Context(), hash, now)
	if want == "" {
		h.expectNoVisitor(name, err)
		return
	}
	h.check(err)
	if v.Name != want {
		h.t.Errorf("%s is of %q, want %q", name, v.Name, want)
	}
}

// expectNoVisitor checks that an error is that of a session or a subscriber without pages.
func (h hooks) expectNoVisitor(name string, err error) {
	h.t.Helper()
	if !fault.Is(err, fault.NotFound) {
		h.t.Errorf("%s: error %v, want that there is none", name, err)
	}
}
