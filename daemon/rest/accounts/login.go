package accounts

import (
	"embed"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/form"
)

// sessions has the handlers of logins and sessions.
type sessions struct {
	accounts        *account.Service
	access          *Access
	embeddedRecords bool
}

// The members of a login.
const (
	MemberProvider = "provider"
	MemberUser     = "UserName"
	MemberPassword = "Password"
	MemberRemember = "RememberMe"
)

// loginIgnored are members that clients of the reference service send for login
// methods that are not supported.
var loginIgnored = []string{
	"State", "oauth_token", "oauth_verifier", "Continue", "nonce", "uri", "response", "qop", "nc", "cnonce",
	"UseTokenCookie", "AccessToken", "AccessTokenSecret",
}

// parseRemember parses RememberMe. HTML forms send "on" for a checked box.
func parseRemember(text string) (bool, error) {
	if text == "" || strings.EqualFold(text, "on") {
		return text != "", nil
	}
	return form.Bool(text)
}

// MemberRedirect is the member with the page to show after a login or logout.
const MemberRedirect = "redirect"

//go:embed templates/login.html
var loginTemplate embed.FS

var loginPages = sync.OnceValue(func() *template.Template {
	return template.Must(encode.Layout().ParseFS(loginTemplate, "templates/login.html"))
})

// loginForm is the data of the login page.
type loginForm struct {
	encode.Page
	UserName string
	Redirect string
	Message  string // the reason why the last login failed
}

// LoginPage shows the login form. It is always an HTML page.
func (h *sessions) LoginPage(x *edge.Context) error {
	h.access.IdentifyFromSession(x)
	members, err := form.Members(x)
	if err != nil {
		return err
	}
	return writeLogin(x, http.StatusOK, loginForm{Redirect: redirectTarget(x, members)})
}

// writeLogin sends the login page.
func writeLogin(x *edge.Context, status int, form loginForm) error {
	form.Page = encode.Page{Title: "Log in", Site: edge.SiteOf(x)}
	form.Site.Location = "" // the link to the login page would lead back here
	var page strings.Builder
	if err := loginPages().ExecuteTemplate(&page, "login", form); err != nil {
		return err
	}
	x.Response.Header().Set("Content-Type", edge.HTMLType)
	return x.Write(status, []byte(page.String()))
}

// redirectTarget returns the page to show after a login or logout. It is always a page of
// this service.
func redirectTarget(x *edge.Context, members query.Members) string {
	const unsafe = "\\\t\r\n" // browsers read a backslash as a slash, and skip the others
	home := x.Base + edge.StartPath
	target := members.Text(MemberRedirect)
	isLocal := strings.HasPrefix(target, "/") && !strings.HasPrefix(target, "//")
	if !isLocal || strings.ContainsAny(target, unsafe) {
		return home
	}
	u, err := url.Parse(target)
	if err != nil {
		return home
	}
	if u.IsAbs() || u.Host != "" || u.Opaque != "" {
		return home
	}
	return edge.LocalPath(u)
}

// LogIn logs a user in, and shows the form again to browsers after a failed login.
func (h *sessions) LogIn(x *edge.Context) error {
	err := h.authenticate(x)
	if err == nil || !x.HTML() || x.Request.Method != http.MethodPost {
		return err
	}
	f := fault.From(err)
	switch f.Kind {
	case fault.Unauthorized:
	case fault.TooMany:
		x.Response.Header().Set("Retry-After", edge.RetryAfter(f.RetryAfter))
	default:
		return err
	}
	members, readErr := form.Members(x)
	if readErr != nil {
		return err
	}
	return writeLogin(x, edge.StatusOf(f), loginForm{
		UserName: members.Text(MemberUser),
		Redirect: redirectTarget(x, members),
		Message:  f.Message,
	})
}

// SendToLogin redirects browsers without a session to the login page. Other clients,
// including scripts on pages, get a 401.
func SendToLogin(x *edge.Context, f *fault.Error) bool {
	if f.Kind != fault.Unauthorized || x.Route == nil || x.Route.Role == account.NoRole {
		return false
	}
	if !x.HTML() || x.Key != "" || !navigates(x.Request) {
		return false
	}
	edge.ClearResponse(x.Response.Header())
	u := edge.WithoutSecrets(x.Request.URL)
	back := "/" + strings.TrimLeft(u.RequestURI(), "/") // two slashes would name another host
	_ = x.Redirect(http.StatusFound, x.Base+"/login?"+MemberRedirect+"="+url.QueryEscape(back))
	return true
}

// navigates reports whether a request may be a page navigation. Requests with
// credentials in a header are not.
func navigates(r *http.Request) bool {
	if r.Header.Get("Authorization") != "" || r.Header.Get(wire.HeaderSessionID) != "" {
		return false
	}
	isRead := r.Method == http.MethodGet || r.Method == http.MethodHead
	mode := r.Header.Get("Sec-Fetch-Mode")
	return isRead && (mode == "" || mode == "navigate")
}

// KeepAlive only extends the session, as every request does.
func (h *sessions) KeepAlive(x *edge.Context) error { return x.NoContent(nil) }

// Current returns the user of the request.
func (h *sessions) Current(x *edge.Context) error {
	document := wire.CurrentSession{
		UserName:       x.Identity.Name,
		DisplayName:    x.Identity.DisplayName,
		Role:           x.Identity.Role.String(),
		Via:            x.Identity.AuthMethod.String(),
		KeyID:          x.Identity.KeyID,
		ExpiryDateTime: dateText(x.Identity.Expires),

		EmbeddedRecords: h.embeddedRecords,
	}
	if x.Identity.SessionHash != "" {
		document.SessionID = x.Identity.SessionHash[:8]
	}
	return x.Document(http.StatusOK, "Session", document)
}

// EndSession is logout as a REST resource.
func (h *sessions) EndSession(x *edge.Context) error {
	return x.NoContent(h.endSessions(x))
}

// endSessions ends the sessions of a request.
func (h *sessions) endSessions(x *edge.Context) error {
	credentials := Credentials(x)
	for _, id := range []string{credentials.SessionHeader, credentials.SessionCookie} {
		if err := h.accounts.Logout(x.Request.Context(), id); err != nil {
			return err
		}
	}
	http.SetCookie(x.Response, expiredCookie(x))
	return nil
}

// authenticate logs in or out, or returns the current session if there are no
// members.
func (h *sessions) authenticate(x *edge.Context) error {
	f := form.Read(x)
	f.Knows(loginIgnored...)
	provider, _ := f.Given(MemberProvider)
	if strings.EqualFold(provider, "logout") {
		return h.Logout(x)
	}
	if provider != "" && !strings.EqualFold(provider, "credentials") {
		return fault.New(fault.NotFound, "unknown provider %s; use credentials", edge.Clean(provider))
	}
	hasLogin := form.HasMember(f.Members, MemberUser) || form.HasMember(f.Members, MemberPassword)
	if x.Request.Method == http.MethodHead || !hasLogin {
		f.Knows(MemberUser, MemberPassword, MemberRemember, MemberRedirect)
		if err := f.Done(x); err != nil {
			return err
		}
		return h.whoAmI(x)
	}
	return h.login(x, f)
}

// login logs a user in with the members of a request. It replaces the sessions that the request
// has.
func (h *sessions) login(x *edge.Context, f *form.Form) error {
	attempt := account.Login{
		UserName: form.Or(form.Value(f, MemberUser, form.Text), ""),
		Password: form.Or(form.Value(f, MemberPassword, form.Text), ""),
		Remember: form.Or(form.Value(f, MemberRemember, parseRemember), false),
		Address:  x.Origin.Address,
	}
	back := form.Or(form.Value(f, MemberRedirect, form.Text), "")
	if err := f.Done(x); err != nil {
		return err
	}

	ticket, err := h.accounts.Login(x.Request.Context(), attempt)
	if err != nil {
		return err
	}
	credentials := Credentials(x)
	for _, id := range []string{credentials.SessionHeader, credentials.SessionCookie} {
		if err := h.accounts.Replace(x.Request.Context(), id); err != nil {
			return err
		}
	}

	x.Identity = ticket.Identity
	http.SetCookie(x.Response, sessionCookie(x, ticket.SessionID, ticket.Remember, x.Identity.Expires))
	if back != "" && x.HTML() { // browsers go to the requested page, other clients get the session
		return x.Redirect(http.StatusSeeOther, redirectTarget(x, f.Members))
	}
	return x.Document(http.StatusOK, "AuthenticateResponse", wire.AuthenticateResponse{
		SessionID:   ticket.SessionID,
		UserName:    x.Identity.Name,
		DisplayName: x.Identity.DisplayName,
	})
}

// whoAmI returns the current session.
func (h *sessions) whoAmI(x *edge.Context) error {
	credentials := Credentials(x)
	if err := h.access.identify(x, credentials); err != nil {
		return err
	}
	doc := wire.AuthenticateResponse{UserName: x.Identity.Name, DisplayName: x.Identity.DisplayName}
	switch x.Identity.AuthMethod {
	case account.Header:
		doc.SessionID = credentials.SessionHeader
	case account.Cookie:
		doc.SessionID = credentials.SessionCookie
	}
	return x.Document(http.StatusOK, "AuthenticateResponse", doc)
}

// Logout ends the session of the request.
func (h *sessions) Logout(x *edge.Context) error {
	if err := h.endSessions(x); err != nil {
		return err
	}
	if x.HTML() {
		return x.Redirect(http.StatusSeeOther, x.Base+"/login")
	}
	return x.Document(http.StatusOK, "AuthenticateResponse", wire.Failure{})
}
