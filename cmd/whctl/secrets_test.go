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

// canaries are secrets by name. They must not appear in any output, unless they are
// printed on purpose.
type canaries map[string]string

// in returns the names of the secrets in a text, except those that are allowed.
func (all canaries) in(text string, allowed ...string) (found []string) {
	for name, secret := range all {
		if strings.Contains(text, secret) && !strings.Contains(strings.Join(allowed, ","), name) {
			found = append(found, name)
		}
	}
	return found
}

// secretsTest runs whctl with a configuration of which all secrets are canaries.
type secretsTest struct {
	t       *testing.T
	service *daemontest.Instance
	dir     string
	env     []string
	secrets canaries
}

// run runs whctl, returns its standard output and checks that its output has no
// secrets, except the allowed one on standard output.
func (h *secretsTest) run(allowed, stdin string, args ...string) string {
	h.t.Helper()
	cmd := h.command(args...)
	cmd.Stdin = strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if code := exitOf(h.t, cmd.Run()); code != 0 {
		h.t.Fatalf("%q: exit %d\n%s", args, code, &stderr)
	}
	if found := h.secrets.in(stdout.String(), allowed); found != nil {
		h.t.Errorf("%q: secrets on standard output: %q\n%s", args, found, &stdout)
	}
	if found := h.secrets.in(stderr.String()); found != nil {
		h.t.Errorf("%q: secrets on standard error: %q\n%s", args, found, &stderr)
	}
	return strings.TrimSpace(stdout.String())
}

// runForSecret runs a command that prints a new secret, and checks that it is only on
// standard output.
func (h *secretsTest) runForSecret(args ...string) (secret string) {
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

func (h *secretsTest) command(args ...string) *exec.Cmd {
	cmd := process(h.t, h.service.URL, args...)
	cmd.Dir, cmd.Env = h.dir, append(withoutSecrets(cmd.Env), h.env...)
	return cmd
}

// withoutSecrets returns the environment without password and token.
func withoutSecrets(env []string) (kept []string) {
	for _, pair := range env {
		if !strings.HasPrefix(pair, profile.EnvPassword) && !strings.HasPrefix(pair, profile.EnvToken) {
			kept = append(kept, pair)
		}
	}
	return kept
}

func (h *secretsTest) write(name, text string) {
	h.t.Helper()
	if err := os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

func (h *secretsTest) read(name string) string {
	h.t.Helper()
	text, err := os.ReadFile(filepath.Join(h.dir, name))
	if err != nil {
		h.t.Fatal(err)
	}
	return string(text)
}

// No command prints a secret, not even with --debug and --verbose. The configuration, the
// bundle of whctl doctor, and the arguments and environment of the process have none.
func TestSecretsAreNotPrinted(t *testing.T) {
	service := daemontest.Start(t, "--webhooks-allow-targets", "127.0.0.0/8")
	dir := t.TempDir()
	h := &secretsTest{
		t:       t,
		service: service,
		dir:     dir,
		secrets: canaries{"password": daemontest.AdminPassword, "header": "canary-of-a-header"},
		env: []string{profile.EnvConfig + "=" + filepath.Join(dir, "config", "config.toml"), "HOME=" + dir, "DBUS_SESSION_BUS_ADDRESS=unix:path=" + filepath.Join(dir, "bus"),
			"HTTPS_PROXY=http://ann:canary-of-a-proxy@127.0.0.1:1"},
	}
	h.secrets["proxy"] = "canary-of-a-proxy"
	h.write("header", "Bearer "+h.secrets["header"])
	h.run("", daemontest.AdminPassword+"\n", "login", "--user", "admin", "--password-stdin", "--insecure-storage", "--debug", "-v")
	session := regexp.MustCompile(`session = ['"](.+)['"]`).FindStringSubmatch(h.read("config/logins.toml"))
	if session == nil {
		t.Fatal("no session is stored")
	}
	h.secrets["session"] = session[1]
	h.secrets["API key"] = h.runForSecret("keys", "create", "canary", "--role", "admin")
	h.runWebhookCommands()
	h.runWithKey()
	h.checkProcess()
	h.checkFiles()
	h.checkBundle()
}

// runWebhookCommands creates a subscriber and a subscription and prints them in all
// formats.
func (h *secretsTest) runWebhookCommands() {
	header := h.secrets["header"]
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Authorization"), header) {
			h.t.Error("the header is not sent")
		}
		io.Copy(io.Discard, r.Body)
	}))
	h.t.Cleanup(receiver.Close)
	id := h.runForSecret("subscribers", "create", "canary shop")
	h.secrets["SubscriberID"] = id
	url := receiver.URL + "/hook?token=canary-of-an-address"
	subscription := h.run("", "", "subscriptions", "create", "canary shop", "bookin.*", url, "--header", "Authorization: @header", "--secret-file", "secret", "--debug", "-v")
	h.secrets["webhook secret"] = strings.TrimSpace(h.read("secret"))
	h.run("", "", "subscriptions", "update", subscription, "--header", "Authorization: @header", "--debug", "-v")
	h.run("", "", "subscriptions", "rotate-secret", subscription, "--secret-file", "another", "--debug", "-v")
	h.secrets["another webhook secret"] = strings.TrimSpace(h.read("another"))
	h.run("", "", "subscriptions", "test", subscription, "--debug", "-v")
	h.run("", "", "trigger", "bookin.created", "--subscription", subscription, "--debug", "-v", "--json")
	for _, format := range []string{"table", "vertical", "csv", "tsv", "json", "ndjson"} {
		// A SubscriberID is part of the data; only a terminal shortens it.
		for _, command := range [][]string{
			{"subscribers", "list"},
			{"subscribers", "show", "canary shop"},
			{"subscriptions", "list"},
			{"subscriptions", "show", subscription},
			{"messages", "list", "--since", "1h"},
			{"users", "list"},
			{"keys", "list"},
			{"requests", "list", "-n", "50"},
			{"whoami"},
			{"profile", "list"},
			{"config", "show", "--origin"},
			{"settings", "list"},
			{"stats", "--lanes"},
		} {
			h.run("SubscriberID", "", append(command, "--debug", "-v", "--format", format)...)
		}
	}
	for _, dry := range [][]string{
		{"subscribers", "delete", id},
		{"subscriptions", "list", "--subscriber", id},
		{"subscriptions", "update", subscription, "--header", "Authorization: @header"},
	} {
		h.run("SubscriberID", "", append(dry, "--dry-run")...)
	}
}

// runWithKey authenticates with an API key from a file.
func (h *secretsTest) runWithKey() {
	h.write("key", h.secrets["API key"]+"\n")
	h.run("", "", "whoami", "--token-file", "key", "--debug", "-v")
}

// checkProcess checks the arguments and environment of a running process, which other
// users can read.
func (h *secretsTest) checkProcess() {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		return // not Linux
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
			if found := h.secrets.in(string(text), "proxy"); found != nil { // HTTPS_PROXY is set by the test
				h.t.Errorf("%q: secrets in %s: %q", args, file, found)
			}
		}
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			h.t.Error(err)
		}
		_, _ = io.Copy(io.Discard, stderr)
		_ = cmd.Wait() // the exit code is irrelevant
	}
}

// checkFiles checks all files that whctl has written. The session may be in logins.toml,
// because --insecure-storage allows it; only the user may read that file.
func (h *secretsTest) checkFiles() {
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
			h.t.Errorf("secrets in %s: %q", path, found)
		}
		return nil
	})
	if err != nil {
		h.t.Error(err)
	}
}

// checkBundle checks the bundle of whctl doctor.
func (h *secretsTest) checkBundle() {
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
			h.t.Errorf("secrets in %s of the bundle: %q", f.Name, found)
		}
		seen += string(text)
	}
	id := h.secrets["SubscriberID"]
	for _, want := range []string{"canary shop", id[:4] + ".." + id[len(id)-4:], "127.0.0.1", "http://***@127.0.0.1:1"} {
		if !strings.Contains(seen, want) {
			h.t.Errorf("the bundle lacks %q", want)
		}
	}
}
