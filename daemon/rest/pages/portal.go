package pages

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/webhook"
)

// Portal has the sessions of subscribers on their pages. Its methods return webhook.NoVisitor for
// unknown, malformed and disabled subscribers, and for sessions that have ended.
type Portal interface {
	// Subscriber returns the subscriber for which a page would open.
	Subscriber(ctx context.Context, subscriberID string) (webhook.Visitor, error)
	// Start starts a session and returns its secret.
	Start(ctx context.Context, subscriberID string) (secret string, err error)
	Visitor(ctx context.Context, secret string) (webhook.Visitor, error)
	End(ctx context.Context, secret string) error
}

// The paths of the pages of subscribers.
const (
	pathPortalOpen          = edge.PortalPath + "/Open"
	pathPortalLeave         = edge.PortalPath + "/Leave"
	pathPortalSubscribe     = edge.PortalPath + "/Subscribe"
	pathPortalSubscriptions = edge.PortalPath + "/Subscriptions"
	pathPortalSubscription  = pathPortalSubscriptions + "/{SubscriptionID}"
	pathPortalMessages      = edge.PortalPath + "/Messages"
	pathPortalMessage       = pathPortalMessages + "/{MessageID}"
)

// memberSubscriberID is the only credential of a subscriber.
const memberSubscriberID = "SubscriberID"

// portal has the pages on which a subscriber manages its subscriptions. They call the operations
// as a client with the SubscriberID alone does.
type portal struct {
	client
	sessions Portal
	tries    *edge.Limiter // of SubscriberIDs, by address
}

// portalTries limits the forms that an address sends with a SubscriberID, and the links that it
// opens.
var portalTries = edge.Rate{PerSecond: 10.0 / 60, Burst: 10}

// visit is the handler of a page for a subscriber that has entered.
type visit func(x *edge.Context, v webhook.Visitor) error

// PortalRoutes returns the routes of the pages of subscribers.
func PortalRoutes(c Config) []edge.Route {
	h := portal{client{withoutLogin{c.API}}, c.Portal, edge.NewLimiter(portalTries)}
	page := func(pattern string, show visit) edge.Route {
		return route(account.NoRole, pattern, h.entered(show))
	}
	form := func(pattern string, show, serve visit) []edge.Route {
		return both(account.NoRole, pattern, h.entered(show), h.entered(serve))
	}
	routes := slices.Concat(
		[]edge.Route{
			route(account.NoRole, edge.PortalPath, h.entry),
			submit(account.NoRole, pathPortalLeave, h.leave),
		},
		both(account.NoRole, pathPortalOpen, h.offer, h.enter),
		[]edge.Route{
			page(pathPortalSubscriptions, h.list),
			page(pathPortalSubscription, h.subscription(subscriptions.one)),
			page(pathPortalMessages, h.message(messages.list)),
			page(pathPortalMessage, h.message(messages.one)),
		},
		form(pathPortalSubscribe, h.newSubscription, h.addSubscription),
		form(pathPortalSubscription+"/Edit",
			h.subscription(subscriptions.edit), h.subscription(subscriptions.save)),
		form(pathPortalSubscription+"/Do/{Action}",
			h.subscription(subscriptions.confirm), h.subscription(subscriptions.act)),
		form(pathPortalMessage+"/Do/{Action}", h.message(messages.confirm), h.message(messages.act)),
	)
	for i := range routes {
		routes[i].Operation = "Portal"
		routes[i].Portal = true
		routes[i].Webhooks = true
	}
	return oneByOne(routes)
}

// message returns a page about messages that shows those of the visitor.
func (h portal) message(serve func(messages, *edge.Context) error) visit {
	return func(x *edge.Context, v webhook.Visitor) error {
		return serve(messages{visiting(h.client, v)}, x)
	}
}

// subscription returns a page about subscriptions that shows those of the visitor.
func (h portal) subscription(serve func(subscriptions, *edge.Context) error) visit {
	return func(x *edge.Context, v webhook.Visitor) error { return serve(h.subscriptionsOf(v), x) }
}

// subscriptionsOf returns the pages about the subscriptions of a visitor.
func (h portal) subscriptionsOf(v webhook.Visitor) subscriptions {
	return subscriptions{visiting(h.client, v)}
}

// withoutLogin calls operations for pages without a login. Those that require one are forbidden.
type withoutLogin struct{ API }

// Do calls an operation.
func (a withoutLogin) Do(x *edge.Context, call Call) (Response, error) {
	response, err := a.API.Do(x, call)
	if fault.Is(err, fault.Unauthorized) {
		f := *fault.From(err)
		f.Kind = fault.Forbidden
		return response, &f
	}
	return response, err
}

// portalFrame returns the data of the layout around a page of a subscriber.
func portalFrame(x *edge.Context, v webhook.Visitor, title string, path ...encode.Link) encode.Page {
	page := frame(x, title, path...)
	page.Site.Visitor = v.Name
	return page
}

// entered returns the handler of a page for subscribers that have entered. Others are sent to the
// entry.
func (h portal) entered(serve visit) func(*edge.Context) error {
	return func(x *edge.Context) error {
		secret := portalSecret(x)
		v, err := h.sessions.Visitor(x.Request.Context(), secret)
		if !fault.Is(err, fault.NotFound) {
			if err != nil {
				return err
			}
			return serve(x, v)
		}
		if secret == "" {
			return goTo(x, edge.PortalPath)
		}
		http.SetCookie(x.Response, endedPortalCookie(x))
		return goTo(x, edge.PortalPath+"?"+memberNote+"=Ended")
	}
}

// portalSecret returns the secret of the session of a request, empty if it has none.
func portalSecret(x *edge.Context) string {
	cookie, err := x.Request.Cookie(edge.PortalCookie)
	if err != nil {
		return ""
	}
	return cookie.Value
}

// portalCookie returns the cookie of a session.
func portalCookie(x *edge.Context, secret string) *http.Cookie {
	return &http.Cookie{
		Name:     edge.PortalCookie,
		Value:    secret,
		Path:     x.Base + edge.PortalPath,
		MaxAge:   int(webhook.PortalLifetime.Seconds()),
		HttpOnly: true,
		Secure:   x.Origin.Secure,
		SameSite: http.SameSiteStrictMode,
	}
}

// endedPortalCookie returns a cookie that deletes the one of a session.
func endedPortalCookie(x *edge.Context) *http.Cookie {
	c := portalCookie(x, "")
	c.MaxAge = -1
	return c
}

// entryPage has the form for the SubscriberID.
type entryPage struct {
	encode.Page
	Note    string
	Error   *problem
	IsWrong bool // the SubscriberID that was sent
	Action  string
}

// entry shows the form for the SubscriberID, or with a session the subscriptions.
func (h portal) entry(x *edge.Context) error {
	_, err := h.sessions.Visitor(x.Request.Context(), portalSecret(x))
	if err == nil {
		return goTo(x, pathPortalSubscriptions)
	}
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	return showEntry(x, http.StatusOK, entryPage{Note: noteIn(x)})
}

func showEntry(x *edge.Context, status int, page entryPage) error {
	page.Page = frame(x, "Open your page")
	page.Action = x.Base + pathPortalOpen
	return show(x, status, "portalEntry", page)
}

// refuse shows the form again, with the reason why no page opens. The status is the same for all
// SubscriberIDs that open none.
func refuse(x *edge.Context, err error) error {
	f := fault.From(err)
	status := http.StatusBadRequest
	switch f.Kind {
	case fault.NotFound:
	case fault.TooMany:
		status = edge.StatusOf(f)
		x.Response.Header().Set("Retry-After", edge.RetryAfter(f.RetryAfter))
	default:
		return err
	}
	return showEntry(x, status, entryPage{
		Error:   &problem{Message: f.Message},
		IsWrong: f.Kind == fault.NotFound,
	})
}

// offerPage is the page that a link with a SubscriberID leads to.
type offerPage struct {
	encode.Page
	Name         string
	Action       string
	SubscriberID string
}

// offer shows a button that opens the page of the subscriber in the link. The link alone has no
// effect: programs follow links, too, to show a preview.
func (h portal) offer(x *edge.Context) error {
	id := strings.TrimSpace(x.URLMembers.Text(memberSubscriberID))
	if id == "" {
		return goTo(x, edge.PortalPath)
	}
	err := h.count(x, "link")
	if err != nil {
		return refuse(x, err)
	}
	v, err := h.sessions.Subscriber(x.Request.Context(), id)
	if err != nil {
		return refuse(x, err)
	}
	return show(x, http.StatusOK, "portalOffer", offerPage{
		Page:         frame(x, "Page of "+v.Name),
		Name:         v.Name,
		Action:       x.Base + pathPortalOpen,
		SubscriberID: id,
	})
}

// count counts a try of an address.
func (h portal) count(x *edge.Context, kind string) error {
	err := h.tries.Take(kind+" "+account.Network(x.Origin.Address), x.Timing.Start)
	if fault.Is(err, fault.TooMany) {
		fault.From(err).Message = "Too many tries. Wait a minute and try again."
	}
	return err
}

// enter starts a session. No address that follows has the SubscriberID.
func (h portal) enter(x *edge.Context) error {
	err := h.count(x, "form")
	if err != nil {
		return refuse(x, err)
	}
	values, err := formOf(x)
	if err != nil {
		return err
	}
	ctx := x.Request.Context()
	secret, err := h.sessions.Start(ctx, strings.TrimSpace(values.Get(memberSubscriberID)))
	if err != nil {
		return refuse(x, err)
	}
	err = h.sessions.End(ctx, portalSecret(x)) // of the subscriber that has used the browser before
	if err != nil {
		return err
	}
	http.SetCookie(x.Response, portalCookie(x, secret))
	return goTo(x, pathPortalSubscriptions)
}

// leave ends the session.
func (h portal) leave(x *edge.Context) error {
	err := h.sessions.End(x.Request.Context(), portalSecret(x))
	if err != nil {
		return err
	}
	http.SetCookie(x.Response, endedPortalCookie(x))
	return goTo(x, edge.PortalPath+"?"+memberNote+"=Left")
}

// portalLink returns the link that opens the pages of a subscriber, for an administrator to hand
// out; empty if they are not served.
func portalLink(x *edge.Context, subscriberID string) string {
	if !x.Options.Portal {
		return ""
	}
	return edge.PublicURL(x) + pathPortalOpen + "?" + memberSubscriberID + "=" + url.QueryEscape(subscriberID)
}

// subscriberPath returns the path of the operations on the subscriptions and messages of a visitor.
func subscriberPath(v webhook.Visitor) string {
	return apiSubscribers + "/" + url.PathEscape(v.Subscriber)
}

// noneYet returns a text, or that there is none.
func noneYet(text string) string { return cmp.Or(text, "none yet") }
