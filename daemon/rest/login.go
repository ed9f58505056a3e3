package rest

import (
	"embed"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// sessions are the handlers of logins and sessions.
type sessions struct {
	accounts *account.Service
	access   *access
}

// memberRedirect names the page to go to after a login or a logout.
const memberRedirect = "redirect"

//go:embed templates/login.html
var loginTemplate embed.FS

var loginPages = template.Must(encode.Layout().ParseFS(loginTemplate, "templates/login.html"))

// loginForm is the data of the login page.
type loginForm struct {
	encode.Page
	UserName string
	Redirect string
	Message  string // why the last try failed
}

// loginPage shows the form. It is a page for everybody who asks, since there is
// nothing else to say.
func (h *sessions) loginPage(x *edge.Context) error {
	h.access.recognise(x)
	return writeLogin(x, http.StatusOK, loginForm{Redirect: landing(x, x.URLMembers)})
}

func writeLogin(x *edge.Context, status int, form loginForm) error {
	form.Page = encode.Page{Title: "Log in", Site: siteOf(x)}
	form.Site.Here = "" // the page leads elsewhere
	var page strings.Builder
	if err := loginPages.ExecuteTemplate(&page, "login", form); err != nil {
		return err
	}
	x.Response.Header().Set("Content-Type", htmlType)
	return x.Write(status, []byte(page.String()))
}

// recognise finds out by the session who looks at a page that everybody may
// see, and dresses it. Who cannot be known stays a stranger.
func (h *access) recognise(x *edge.Context) {
	given := credentials(x)
	if !x.Identity.Known() && given.SessionCookie != "" && onlyCookie(given) {
		if who, err := h.accounts.Authenticate(x.Request.Context(), given); err == nil {
			x.Identity = who
		}
	}
	addFrame(x)
}

// landing is where a login or a logout leads: a page of this service, whatever
// the request says.
func landing(x *edge.Context, members query.Members) string {
	const attack = "\\\t\r\n"
	to := members.Text(memberRedirect)
	u, err := url.Parse(to)
	if err != nil || to == "" || u.IsAbs() || u.Host != "" || u.Opaque != "" || strings.ContainsAny(to, attack) ||
		!strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") {
		return x.Base + "/metadata"
	}
	return localPath(u)
}

// welcome answers a login: a person goes to the page asked for, a program gets
// the session.
func welcome(x *edge.Context, members query.Members, doc wire.AuthenticateResponse) error {
	if x.HTML() {
		return x.Redirect(http.StatusSeeOther, landing(x, members))
	}
	return x.Document(http.StatusOK, "AuthenticateResponse", doc)
}

// farewell answers a logout.
func farewell(x *edge.Context) error {
	if x.HTML() {
		return x.Redirect(http.StatusSeeOther, x.Base+"/login")
	}
	return x.Document(http.StatusOK, "AuthenticateResponse", wire.Failure{})
}

// logIn logs in, and shows a person whose login failed the form again.
func (h *sessions) logIn(x *edge.Context) error {
	err := h.authenticate(x)
	if err == nil || !x.HTML() || x.Request.Method != http.MethodPost {
		return err
	}
	f := fault.Of(err)
	switch f.Kind {
	case fault.Unauthorized:
	case fault.TooMany:
		x.Response.Header().Set("Retry-After", edge.RetryAfter(f.RetryAfter))
	default:
		return err
	}
	members, readErr := readMembers(x)
	if readErr != nil {
		return err
	}
	return writeLogin(x, edge.StatusOf(f), loginForm{
		UserName: members.Text(memberUser), Redirect: landing(x, members), Message: f.Message,
	})
}
