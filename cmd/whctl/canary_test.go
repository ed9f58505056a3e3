//go:build unix

package main

import (
	"archive/zip"
	"bufio"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bizhook/whd/cmd/whctl/output"
	"github.com/bizhook/whd/cmd/whctl/profile"
	"github.com/bizhook/whd/daemon/daemontest"
)

// canaries are secrets that somebody has, by what they are. They must appear
// nowhere but where they are told on purpose.
type canaries map[string]string

// in reports which of them a text holds, but for those that are allowed there.
func (all canaries) in(text string, allowed ...string) (found []string) {
	for what, secret := range all {
		if strings.Contains(text, secret) && !strings.Contains(strings.Join(allowed, ","), what) {
			found = append(found, what)
		}
	}
	return found
}

// house is somebody who works with whctl, whose secrets are all canaries.
type house struct {
	t       *testing.T
	service *daemontest.Instance
	dir     string
	env     []string
	secrets canaries
}

// run runs a command line with everything that it can tell, and gives what is on
// standard output. What else it writes holds no secret.
func (h *house) run(allowed, stdin string, args ...string) string {
	h.t.Helper()
	cmd := h.command(args...)
	cmd.Stdin = strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if code := exitOf(h.t, cmd.Run()); code != 0 {
		h.t.Fatalf("%q: exit %d\n%s", args, code, &stderr)
	}
	if found := h.secrets.in(stdout.String(), allowed); found != nil {
		h.t.Errorf("%q: standard output tells: %q\n%s", args, found, &stdout)
	}
	if found := h.secrets.in(stderr.String()); found != nil {
		h.t.Errorf("%q: standard error tells: %q\n%s", args, found, &stderr)
	}
	return strings.TrimSpace(stdout.String())
}

// learn runs a command that prints a new secret, which it tells nowhere else.
func (h *house) learn(args ...string) (secret string) {
	h.t.Helper()
	cmd := h.command(append(args, "--debug", "-v")...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	secret = strings.TrimSpace(string(out))
	if err != nil || secret == "" || strings.Contains(stderr.String(), secret) {
		h.t.Fatalf("%q: %v, %q, standard error %s", args, err, secret, &stderr)
	}
	return secret
}

func (h *house) command(args ...string) *exec.Cmd {
	cmd := process(h.t, h.service.URL, args...)
	cmd.Dir, cmd.Env = h.dir, append(withoutSecrets(cmd.Env), h.env...)
	return cmd
}

func withoutSecrets(env []string) (kept []string) {
	for _, pair := range env {
		if !strings.HasPrefix(pair, profile.EnvPassword) && !strings.HasPrefix(pair, profile.EnvToken) {
			kept = append(kept, pair)
		}
	}
	return kept
}

func (h *house) write(name, text string) {
	h.t.Helper()
	if err := os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) read(name string) string {
	h.t.Helper()
	text, err := os.ReadFile(filepath.Join(h.dir, name))
	if err != nil {
		h.t.Fatal(err)
	}
	return string(text)
}

// A day with whctl: no secret is in what it writes, which is both streams with
// --debug and --verbose, the configuration and doctor's bundle, nor in what others
// can see of its process.
func TestSecretsAreKept(t *testing.T) {
	service := daemontest.Start(t, "--webhooks-allow-targets", "127.0.0.0/8")
	dir := t.TempDir()
	h := &house{t: t, service: service, dir: dir, secrets: canaries{"password": daemontest.AdminPassword, "header": "canary-of-a-header"},
		env: []string{profile.EnvConfig + "=" + filepath.Join(dir, "config", "config.toml"), "HOME=" + dir, "DBUS_SESSION_BUS_ADDRESS=unix:path=" + filepath.Join(dir, "bus"),
			"HTTPS_PROXY=http://ann:canary-of-a-proxy@127.0.0.1:1"}}
	h.secrets["proxy"] = "canary-of-a-proxy"
	h.write("header", "Bearer "+h.secrets["header"])
	h.run("", daemontest.AdminPassword+"\n", "login", "--user", "admin", "--password-stdin", "--insecure-storage", "--debug", "-v")
	session := regexp.MustCompile(`session = ['"](.+)['"]`).FindStringSubmatch(h.read("config/logins.toml"))
	if session == nil {
		t.Fatal("no session is stored")
	}
	h.secrets["session"] = session[1]
	h.secrets["API key"] = h.learn("keys", "create", "canary", "--role", "admin")
	h.useWebhooks()
	h.useKey()
	h.lookAtProcess()
	h.lookAtFiles()
	h.lookAtBundle()
}

// useWebhooks makes what has secrets of its own, and shows it in every way.
func (h *house) useWebhooks() {
	header := h.secrets["header"]
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Authorization"), header) {
			h.t.Error("the header is not sent")
		}
		io.Copy(io.Discard, r.Body)
	}))
	h.t.Cleanup(receiver.Close)
	id := h.learn("subscribers", "create", "canary house")
	h.secrets["SubscriberID"] = id
	url := receiver.URL + "/hook?token=canary-of-an-address"
	subscription := h.run("", "", "subscriptions", "create", "canary house", "bookin.*", url, "--header", "Authorization: @header", "--secret-file", "secret", "--debug", "-v")
	h.secrets["webhook secret"] = strings.TrimSpace(h.read("secret"))
	h.run("", "", "subscriptions", "update", subscription, "--header", "Authorization: @header", "--debug", "-v")
	h.run("", "", "subscriptions", "rotate-secret", subscription, "--secret-file", "another", "--debug", "-v")
	h.secrets["another webhook secret"] = strings.TrimSpace(h.read("another"))
	h.run("", "", "subscriptions", "test", subscription, "--debug", "-v")
	h.run("", "", "trigger", "bookin.created", "--subscription", subscription, "--debug", "-v", "--json")
	for _, format := range []string{"table", "vertical", "csv", "tsv", "json", "ndjson"} {
		// A SubscriberID is the data that is asked for; a screen shows its ends only.
		for _, what := range [][]string{
			{"subscribers", "list"}, {"subscribers", "show", "canary house"}, {"subscriptions", "list"}, {"subscriptions", "show", subscription},
			{"messages", "list", "--since", "1h"}, {"users", "list"}, {"keys", "list"}, {"requests", "list", "-n", "50"}, {"whoami"}, {"profile", "list"}, {"config", "show", "--origin"}, {"settings", "list"}, {"stats", "--lanes"},
		} {
			h.run("SubscriberID", "", append(what, "--debug", "-v", "--format", format)...)
		}
	}
	for _, dry := range [][]string{{"subscribers", "delete", id}, {"subscriptions", "list", "--subscriber", id}, {"subscriptions", "update", subscription, "--header", "Authorization: @header"}} {
		h.run("SubscriberID", "", append(dry, "--dry-run")...)
	}
}

// useKey asks with an API key, given in a file.
func (h *house) useKey() {
	h.write("key", h.secrets["API key"]+"\n")
	h.run("", "", "whoami", "--token-file", "key", "--debug", "-v")
}

// lookAtProcess looks at a process that runs, in the way that others can.
func (h *house) lookAtProcess() {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		return // another system
	}
	for _, args := range [][]string{
		{"messages", "tail"},
		{"messages", "tail", "--token-file", "key"},
		{"listen", "--forward-to", "127.0.0.1:1", "--secret-file", "another"},
	} {
		cmd := h.command(args...)
		stderr, err := cmd.StderrPipe()
		if err != nil {
			h.t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			h.t.Fatal(err)
		}
		if line, err := bufio.NewReader(stderr).ReadString('\n'); err != nil || !strings.HasPrefix(line, "connected to ") {
			h.t.Errorf("%q: %q, %v", args, line, err)
		}
		for _, file := range []string{"cmdline", "environ"} {
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", cmd.Process.Pid, file))
			if err != nil || len(text) == 0 {
				h.t.Error(file, err)
			}
			if found := h.secrets.in(string(text), "proxy"); found != nil { // which this test put there
				h.t.Errorf("%q: %s tells: %q", args, file, found)
			}
		}
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			h.t.Error(err)
		}
		_, _ = io.Copy(io.Discard, stderr)
		_ = cmd.Wait() // how it ended is not the question
	}
}

// lookAtFiles looks at all that whctl has written of itself. The session may
// stand in the file that --insecure-storage allows, which is the user's alone.
func (h *house) lookAtFiles() {
	err := filepath.WalkDir(h.dir, func(path string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		if err != nil || entry.IsDir() || name == "header" || name == "key" || name == "secret" || name == "another" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		allowed := ""
		if name == "logins.toml" {
			allowed = "session"
			if info, err := entry.Info(); err != nil || info.Mode().Perm() != output.PrivateFile {
				h.t.Errorf("%s: %v, %v", path, info.Mode(), err)
			}
		}
		if found := h.secrets.in(string(text), allowed); found != nil {
			h.t.Errorf("%s tells: %q", path, found)
		}
		return nil
	})
	if err != nil {
		h.t.Error(err)
	}
}

// lookAtBundle unpacks what is sent to somebody who helps.
func (h *house) lookAtBundle() {
	h.env = append(h.env, profile.EnvToken+"="+h.secrets["API key"])
	h.run("", "", "doctor", "--bundle", "found.zip", "--debug", "-v")
	archive, err := zip.OpenReader(filepath.Join(h.dir, "found.zip"))
	if err != nil {
		h.t.Fatal(err)
	}
	defer archive.Close()
	h.secrets["address"] = "canary-of-an-address"
	seen := ""
	for _, f := range archive.File {
		in, err := f.Open()
		if err != nil {
			h.t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			h.t.Fatal(err)
		}
		if found := h.secrets.in(string(text)); found != nil {
			h.t.Errorf("%s in the bundle tells: %q", f.Name, found)
		}
		seen += string(text)
	}
	id := h.secrets["SubscriberID"]
	for _, want := range []string{"canary house", id[:4] + ".." + id[len(id)-4:], "127.0.0.1", "http://***@127.0.0.1:1"} {
		if !strings.Contains(seen, want) {
			h.t.Errorf("the bundle lacks %q", want)
		}
	}
}
