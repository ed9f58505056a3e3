package rest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/rest"
)

// programs have the headers that programs send with a request of their user's, as far as the
// service reads them.
var programs = map[string][]string{
	"Windows PowerShell": {"User-Agent: Mozilla/5.0 (Windows NT; Windows NT 10.0; en-US) WindowsPowerShell/5.1.19041.1"},
	"PowerShell": {
		"User-Agent: Mozilla/5.0 (Windows NT 10.0; Microsoft Windows 10.0.22631; en-US) PowerShell/7.4.2",
		"Accept-Encoding: gzip, deflate, br",
	},
	"VBA with WinHTTP": {
		"User-Agent: Mozilla/4.0 (compatible; Win32; WinHttp.WinHttpRequest.5)",
		"Accept: */*",
	},
	"VBA with MSXML": {
		"User-Agent: Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 10.0; Win64; x64; Trident/8.0; .NET4.0C; .NET4.0E)",
		"Accept: */*",
		"Accept-Language: en-AU",
	},
	"Excel":       {"User-Agent: Mozilla/4.0 (compatible; ms-office; MSOffice 16)", "Accept: */*"},
	"Power Query": {"User-Agent: Microsoft.Data.Mashup (https://go.microsoft.com/fwlink/?LinkID=304225)"},
	"curl":        {"User-Agent: curl/8.5.0", "Accept: */*"},
	"wget":        {"User-Agent: Wget/1.21.3", "Accept: */*", "Accept-Encoding: identity"},
	"requests of Python": {
		"User-Agent: python-requests/2.31.0",
		"Accept: */*",
		"Accept-Encoding: gzip, deflate",
	},
	"HttpClient of Java": {"User-Agent: Java-http-client/17.0.9"},
	"Go":                 {"User-Agent: Go-http-client/1.1", "Accept-Encoding: gzip"},
	"Apps Script": {
		"User-Agent: Mozilla/5.0 (compatible; Google-Apps-Script; beanserver; +https://script.google.com; id: UAEmdDd8nuc)",
		"Accept-Encoding: gzip, deflate, br",
	},
	"Indy that reads JSON": {
		"User-Agent: Mozilla/3.0 (compatible; Indy Library)",
		"Accept: application/json",
		"Accept-Encoding: identity",
	},
	"no User-Agent": {"User-Agent: "},
}

// indy has the headers of Indy unless a program sets Accept. They are those of a form.
var indy = []string{"User-Agent: Mozilla/3.0 (compatible; Indy Library)", "Accept: text/html, */*"}

// TestProgramsChangeSomething checks that the protection against CSRF does not reject programs. It
// signs in with the headers of each program, and changes something
// with a session, a password and a key.
func TestProgramsChangeSomething(t *testing.T) {
	i := daemontest.Start(t)
	key := "Authorization: Bearer " + i.Key(t, "admin")
	for name, headers := range programs {
		t.Run(name, func(t *testing.T) {
			c := anonymous(t, i).with(headers...)
			session := c.do("POST /auth", loginJSON()).want(t, 200).cookie(t).Value
			c.do("POST /login", loginForm(), "Content-Type: application/x-www-form-urlencoded").want(t, 200)
			c.do("POST /json/reply/Authenticate", loginJSON()).want(t, 200)
			proofs := map[string]string{
				"cookie": "Cookie: ss-id=" + session,
				"header": "X-ss-id: " + session,
				"Basic":  basic("admin", daemontest.AdminPassword),
				"key":    key,
			}
			for proof, header := range proofs {
				c := c.with(header)
				subscriber := read[wire.Subscriber](t,
					c.do("POST /Webhooks/Subscribers", `{"Name":"`+name+` by `+proof+`"}`).want(t, 201))
				path := "/Webhooks/Subscribers/" + subscriber.RecID
				c.do("PATCH "+path, `{"IsEnabled":false}`).want(t, 200)
				c.do("POST "+path+"/Subscriptions",
					`{"URL":"https://shop.example/","EventName":"debtor.created"}`).want(t, 201)
				c.do("POST /Webhooks/Events", `{"EventName":"debtor.created","Body":"{}"}`).want(t, 201)
				c.do("DELETE "+path, "").want(t, 204)
				c.do("GET /Queries/DB_Class?Take=1", "").want(t, 200)
			}
			c.do("POST /auth/logout", "", "Cookie: ss-id="+session).want(t, 200)
			anonymous(t, i).do("GET /auth", "", "Cookie: ss-id="+session).want(t, 401)
		})
	}
}

// TestProgramsThatResembleBrowsers checks which requests of programs that call themselves
// Mozilla are still rejected, and that the response names the rules.
func TestProgramsThatResembleBrowsers(t *testing.T) {
	i := demo.start(t)
	cookie := "Cookie: ss-id=" + anonymous(t, i).do("GET /auth?"+loginForm(), "").want(t, 200).cookie(t).Value
	const advice = "must use POST"
	for name, headers := range programs {
		resembles := strings.HasPrefix(headers[0], "User-Agent: Mozilla/")
		for _, line := range []string{
			"GET /auth?" + loginForm(),
			"HEAD /auth",
			"GET /api/RemoveUser?UserName=missing",
			"POST /auth?callback=f",
		} {
			a := anonymous(t, i).with(headers...).do(line, loginJSON(), cookie)
			if isRejected := a.status == 403; isRejected != resembles {
				t.Errorf("%s of %s returned %d %s, want status 403: %t", line, name, a.status, a.body, resembles)
			}
			hasBody := !strings.HasPrefix(line, "HEAD")
			if resembles && hasBody && !strings.Contains(a.body, advice) {
				t.Errorf("%s of %s returned %s, want %q in it", line, name, a.body, advice)
			}
		}
	}

	c := anonymous(t, i).with(indy...)
	for _, line := range []string{
		"POST /auth",
		"GET /auth?" + loginForm(),
		"POST /Webhooks/Subscribers",
	} {
		c.do(line, loginJSON(), cookie).want(t, 403).wantMessage(t, "without text/html in Accept")
	}

	c.do("POST /json/reply/RemoveUser?UserName=missing", "", "Authorization: Bearer "+i.Key(t, "admin")).want(t, 404)
	override := "X-HTTP-Method-Override: GET"
	anonymous(t, i).with(programs["PowerShell"]...).do("POST /api/RemoveUser?UserName=missing",
		"", cookie, override).want(t, 403)
}

// plainPages have the headers of requests that a page with the referrer policy no-referrer
// makes browsers send over plain HTTP, where they send no Sec-Fetch headers.
var plainPages = []struct {
	name, method string
	headers      []string
}{
	{
		name:   "link in Chrome",
		method: "GET",
		headers: []string{
			chrome,
			"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8",
			"Upgrade-Insecure-Requests: 1",
		},
	},
	{
		name:    "link in Firefox",
		method:  "GET",
		headers: []string{firefox, "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"},
	},
	{
		name:    "image in Chrome",
		method:  "GET",
		headers: []string{chrome, "Accept: image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8"},
	},
	{
		name:   "image in Firefox",
		method: "GET",
		headers: []string{
			firefox,
			"Accept: image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5",
		},
	},
	{name: "script in Chrome", method: "GET", headers: []string{chrome, "Accept: */*"}},
	{name: "script in Safari", method: "GET", headers: []string{safari, "Accept: */*"}},
	{
		name:   "form in Chrome",
		method: "POST",
		headers: []string{
			chrome,
			"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
			"Origin: null",
			formHeader,
		},
	},
	{
		name:   "form in Firefox",
		method: "POST",
		headers: []string{
			firefox,
			"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
			"Origin: null",
			formHeader,
		},
	},
	{
		name:    "form in Internet Explorer",
		method:  "POST",
		headers: []string{explorer, "Accept: text/html, application/xhtml+xml, image/jxr, */*", formHeader},
	},
	{
		name:    "form as plain text",
		method:  "POST",
		headers: []string{firefox, "Accept: text/html,*/*;q=0.8", "Origin: null", "Content-Type: text/plain"},
	},
	{
		name:    "fetch without CORS",
		method:  "POST",
		headers: []string{chrome, "Accept: */*", "Origin: null", "Content-Type: text/plain;charset=UTF-8"},
	},
}

const (
	chrome     = "User-Agent: Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36"
	firefox    = "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
	safari     = "User-Agent: Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Safari/605.1.15"
	explorer   = "User-Agent: Mozilla/5.0 (Windows NT 10.0; WOW64; Trident/7.0; rv:11.0) like Gecko"
	formHeader = "Content-Type: application/x-www-form-urlencoded"
)

// TestPlainPagesChangeNothing checks that a page that suppresses its origin cannot use the
// session of a browser for any change, nor read a query.
func TestPlainPagesChangeNothing(t *testing.T) {
	i := demo.start(t)
	cookie := "Cookie: ss-id=" + anonymous(t, i).do("GET /auth?"+loginForm(), "").want(t, 200).cookie(t).Value
	names := changingOperations(t, i)
	for _, page := range plainPages {
		c := anonymous(t, i).with(page.headers...).with(cookie)
		for _, name := range names {
			for _, path := range []string{"/json/reply/", "/json/oneway/", "/api/"} {
				for _, query := range []string{"", "?callback=f", "?UserName=missing&format=json"} {
					line := page.method + " " + path + name + query
					a := c.do(line, "")
					if a.status != 403 || a.header.Get("Set-Cookie") != "" {
						t.Errorf("%s (%s) returned %d %v %s, want 403 without a cookie",
							line, page.name, a.status, a.header, a.body)
					}
				}
			}
		}

		for _, path := range []string{
			"/auth",
			"/auth/credentials",
			"/authenticate",
			"/auth/logout",
			"/auth?" + loginForm(),
			"/json/reply/DB_ClassQuery?callback=f",
			"/Queries/DB_Class?callback=f",
		} {
			c.do(page.method+" "+path, "").want(t, 403)
		}

		for _, line := range changing {
			if page.method == "POST" && strings.HasPrefix(line, "POST ") {
				c.do(line, "").want(t, 403)
			}
		}
	}

	anonymous(t, i).do("GET /auth", "", cookie).want(t, 200)
}

// changingOperations returns the names of the operations that change something, which have a
// plain route with another method than GET.
func changingOperations(t *testing.T, i *daemontest.Instance) []string {
	t.Helper()
	var names []string
	for _, o := range metadataOf(t, anonymous(t, i)).Operations {
		isQuery := strings.HasSuffix(o.Name, "Query") || o.Name == "QueryRequestLogsGETManyRequest"
		changes := slices.ContainsFunc(o.Routes, func(r wire.OperationRoute) bool {
			isByName := strings.HasPrefix(r.Path, "/{Format}/") || strings.HasPrefix(r.Path, "/api/")
			return !isByName && !slices.Equal(r.Methods, []string{"GET"})
		})
		if changes && !isQuery && !slices.Contains([]string{"TestTarget", rest.MCPOperation}, o.Name) {
			names = append(names, o.Name)
		}
	}
	if len(names) < 20 {
		t.Fatalf("the operations that change something are %q, want at least 20", names)
	}
	return names
}
