package rest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/daemontest/clientstest"
)

// TestBasicChallenge checks that programs get the challenge for HTTP Basic, and browsers
// do not, for any part of a page.
func TestBasicChallenge(t *testing.T) {
	c := anonymous(t, daemontest.Start(t)) // not shared, since failed logins are limited by address
	const firefox = "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
	for name, test := range map[string]struct {
		basic   bool
		headers []string
	}{
		"no headers": {basic: true, headers: []string{"User-Agent: "}},
		"curl":       {basic: true, headers: []string{"User-Agent: curl/8.0", "Accept: */*"}},
		"wget": {
			basic:   true,
			headers: []string{"User-Agent: Wget/1.21", "Accept: */*", "Accept-Encoding: identity"},
		},
		"Python": {
			basic:   true,
			headers: []string{"User-Agent: Python-urllib/3.12", "Accept-Encoding: identity"},
		},
		"JSON": {basic: true, headers: []string{"Accept: application/json"}},
		"Windows PowerShell": {
			basic:   true,
			headers: []string{"User-Agent: Mozilla/5.0 (Windows NT; Windows NT 10.0; en-US) WindowsPowerShell/5.1.19041.1"},
		},
		"PowerShell": {
			basic:   true,
			headers: []string{"User-Agent: Mozilla/5.0 (Windows NT 10.0; Microsoft Windows 10.0.19045; en-US) PowerShell/7.4.0"},
		},
		"WinHTTP": {
			basic:   true,
			headers: []string{"User-Agent: Mozilla/4.0 (compatible; Win32; WinHttp.WinHttpRequest.5)"},
		},
		"page": {basic: false, headers: []string{"Accept: application/json, text/HTML;q=0.5"}},
		"second Accept": {
			basic:   false,
			headers: []string{"Accept: application/json", "Accept: text/html"},
		},
		"XMLHttpRequest": {
			basic:   false,
			headers: []string{"Accept: application/json", "X-Requested-With: XMLHttpRequest"},
		},
		"fetch": {
			basic:   false,
			headers: []string{"Accept: */*", "Sec-Fetch-Mode: cors", "Sec-Fetch-Site: same-origin"},
		},
		"image": {
			basic:   false,
			headers: []string{"Accept: image/png,*/*;q=0.8", "Sec-Fetch-Dest: image"},
		},
		"fetch by plain HTTP": {basic: false, headers: []string{"Accept: */*", firefox}},
		"other User-Agent": {
			basic:   false,
			headers: []string{"Accept: */*", "Referer: http://erp.example/page"},
		},
		"other origin": {basic: false, headers: []string{"Accept: */*", "Origin: https://shop.example"}},
		"older Edge": {
			basic: false,
			headers: []string{
				"Accept: */*",
				"User-Agent: Mozilla/5.0 (Windows NT 10.0; WOW64; Trident/7.0; rv:11.0) like Gecko",
			},
		},
	} {
		want := []string{`credentials realm="/auth/credentials"`}
		if test.basic {
			want = append(want, `Basic realm="whd"`)
		}
		for _, line := range []string{
			"GET /json/reply/DB_ClassQuery",
			"GET /KeepAlive",
			"GET /auth",
			"POST /auth?UserName=x&Password=y",
			"POST /json/reply/DB_ClassQuery[]",
		} {
			body := ""
			if strings.HasSuffix(line, "[]") {
				body = "[{}]"
			}
			a := c.do(line, body, append([]string{"X-ss-id: x"}, test.headers...)...)
			if got := a.header.Values("WWW-Authenticate"); a.status == 401 && !slices.Equal(got, want) {
				t.Errorf("%s: %s: %q, want %q", name, line, got, want)
			} else if a.status != 401 && a.status != 403 &&
				a.status != 429 { // a browser from another origin may not log in
				t.Errorf("%s: %s: status %d", name, line, a.status)
			}
		}
	}

	c.do("GET /json/reply/DB_ClassQuery", "", basic("admin", daemontest.AdminPassword)).want(t, 200).
		wantHeader(t, "WWW-Authenticate", "")
}

// TestProgramsWaitForChallenge runs programs that send a password only after a 401 with a
// challenge for HTTP Basic. Clients in PHP use the library of curl, or read the header.
func TestProgramsWaitForChallenge(t *testing.T) {
	i := demo.start(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"get.py": `import sys, urllib.request
url, password = sys.argv[1:]
passwords = urllib.request.HTTPPasswordMgrWithDefaultRealm()
passwords.add_password(None, url, "admin", password)
opener = urllib.request.build_opener(urllib.request.HTTPBasicAuthHandler(passwords))
print(opener.open(url).read().decode())
`,
		"get.php": `<?php
[, $url, $password] = $argv;
$first = @file_get_contents($url, false, stream_context_create(['http' => ['ignore_errors' => true]]));
if (!preg_grep('/^WWW-Authenticate: Basic /i', $http_response_header)) exit(1);
$context = stream_context_create(['http' => ['header' => 'Authorization: Basic ' . base64_encode("admin:$password")]]);
echo file_get_contents($url, false, $context);
`,
		"get.cs": `using System; using System.Net;
class Get { static void Main(string[] a) {
	var client = new WebClient { Credentials = new NetworkCredential("admin", a[1]) };
	Console.WriteLine(client.DownloadString(a[0]));
} }
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	url := i.URL + "/json/reply/DB_ClassQuery?Take=1"
	for name, command := range map[string][]string{
		"python3": {"get.py", url, daemontest.AdminPassword},
		"php":     {"get.php", url, daemontest.AdminPassword},
		"wget": {
			"--quiet",
			"--output-document=-",
			"--user=admin",
			"--password=" + daemontest.AdminPassword, url,
		},
		"curl": {
			"--silent",
			"--show-error",
			"--fail",
			"--anyauth",
			"--user", "admin:" + daemontest.AdminPassword,
			url,
		},
		"mono": {"get.exe", url, daemontest.AdminPassword},
	} {
		t.Run(name, func(t *testing.T) {
			program := clientstest.Tool(t, name)
			if name == "mono" {
				build := exec.CommandContext(t.Context(), clientstest.Tool(t, "mcs"), "get.cs")
				build.Dir = dir
				if out, err := build.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			}
			cmd := exec.CommandContext(t.Context(), program, command...)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), `"Results":[`) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
