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
	"slices"
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
func (c canaries) in(text string, allowed ...string) []string {
	var names []string
	for name, secret := range c {
		if strings.Contains(text, secret) && !slices.Contains(allowed, name) {
			names = append(names, name)
		}
	}
	return names
}

// secretsTest runs whctl with a configuration of which all secrets are canaries.
type secretsTest struct {
	t       *testing.T
	service *daemontest.Instance
	dir     string
	env     []string
	secrets canaries
}

// run runs whctl with all output for diagnostics, returns its standard output and checks that its
// output has no secrets.
func (h *secretsTest) run(args ...string) string {
	h.t.Helper()
	return h.runAllowing("", h.command(args...))
}

// runAllowing is run for a command that may print the secret with a name on standard output.
func (h *secretsTest) runAllowing(allowed string, cmd *exec.Cmd) string {
	h.t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout = &stdout
	cmd.Stderr = &stderr
	args := cmd.Args[1:]
	if code := exitOf(h.t, cmd.Run()); code != 0 {
		h.t.Fatalf("whctl %q: got exit code %d, want 0\n%s", args, code, &stderr)
	}
	if names := h.secrets.in(stdout.String(), allowed); names != nil {
		h.t.Errorf("whctl %q: the secrets %q are on standard output\n%s", args, names, &stdout)
	}
	if names := h.secrets.in(stderr.String()); names != nil {
		h.t.Errorf("whctl %q: the secrets %q are on standard error\n%s", args, names, &stderr)
	}
	return strings.TrimSpace(stdout.String())
}

// runForSecret runs a command that prints a new secret, and checks that it is only on
// standard output.
func (h *secretsTest) runForSecret(args ...string) (secret string) {
	h.t.Helper()
	cmd := h.command(args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	secret = strings.TrimSpace(string(out))
	if err != nil || secret == "" || strings.Contains(stderr.String(), secret) {
		h.t.Fatalf("whctl %q: got %q, error %v; want a secret, only on standard output; stderr %s",
			args, secret, err, &stderr)
	}
	return secret
}

// command returns a process of whctl with all output for diagnostics.
func (h *secretsTest) command(args ...string) *exec.Cmd {
	cmd := process(h.t, h.service.URL, append(args, "--debug", "-v")...)
	cmd.Dir = h.dir
	cmd.Env = append(withoutSecrets(cmd.Env), h.env...)
	return cmd
}

// withoutSecrets returns the environment without password and token.
func withoutSecrets(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(pair string) bool {
		return strings.HasPrefix(pair, profile.EnvPassword) || strings.HasPrefix(pair, profile.EnvToken)
	})
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

// TestSecretsAreNotPrinted checks that no command prints a secret, not even with --debug and
// --verbose. The configuration, the bundle of whctl doctor, and the arguments and environment of the
// process have none.
func TestSecretsAreNotPrinted(t *testing.T) {
	const proxyPassword = "canary-of-a-proxy"
	dir := t.TempDir()
	h := &secretsTest{
		t:       t,
		service: daemontest.Start(t, "--webhooks-allow-targets", "127.0.0.0/8"),
		dir:     dir,
		env: []string{
			profile.EnvConfig + "=" + filepath.Join(dir, "config", "config.toml"),
			"HOME=" + dir,
			"DBUS_SESSION_BUS_ADDRESS=unix:path=" + filepath.Join(dir, "bus"),
			"HTTPS_PROXY=http://ann:" + proxyPassword + "@127.0.0.1:1",
		},
		secrets: canaries{
			"password": daemontest.AdminPassword,
			"header":   "canary-of-a-header",
			"proxy":    proxyPassword,
		},
	}
	h.write("header", "Bearer "+h.secrets["header"])
	h.login()
	h.secrets["API key"] = h.runForSecret("keys", "create", "canary", "--role", "admin")
	h.runWebhookCommands()
	h.runWithKey()
	h.checkProcess()
	h.checkFiles()
	h.checkBundle()
}

// login signs in, which stores a session in a file.
func (h *secretsTest) login() {
	h.t.Helper()
	cmd := h.command("login", "--user", "admin", "--password-stdin", "--insecure-storage")
	cmd.Stdin = strings.NewReader(daemontest.AdminPassword + "\n")
	h.runAllowing("", cmd)
	logins := h.read("config/logins.toml")
	session := regexp.MustCompile(`session = ['"](.+)['"]`).FindStringSubmatch(logins)
	if session == nil {
		h.t.Fatalf("no session is stored in %q", logins)
	}
	h.secrets["session"] = session[1]
}

// runWebhookCommands creates a subscriber and a subscription and prints them in all
// formats.
func (h *secretsTest) runWebhookCommands() {
	h.t.Helper()
	header := h.secrets["header"]
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); !strings.Contains(got, header) {
			h.t.Errorf("a message has the header Authorization: %q, want %q", got, header)
		}
		io.Copy(io.Discard, r.Body)
	}))
	h.t.Cleanup(receiver.Close)

	id := h.runForSecret("subscribers", "create", "canary shop")
	h.secrets["SubscriberID"] = id
	subscription := h.run("subscriptions", "create", "canary shop", "bookin.*",
		receiver.URL+"/hook?token=canary-of-an-address",
		"--header", "Authorization: @header", "--secret-file", "secret")
	h.secrets["webhook secret"] = strings.TrimSpace(h.read("secret"))
	h.run("subscriptions", "update", subscription, "--header", "Authorization: @header")
	h.run("subscriptions", "rotate-secret", subscription, "--secret-file", "another")
	h.secrets["another webhook secret"] = strings.TrimSpace(h.read("another"))
	h.run("subscriptions", "test", subscription)
	h.run("trigger", "bookin.created", "--subscription", subscription, "--json")

	// A SubscriberID is part of the data; only a terminal shortens it.
	for _, format := range []string{"table", "vertical", "csv", "tsv", "json", "ndjson"} {
		for _, args := range [][]string{
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
			h.runAllowing("SubscriberID", h.command(append(args, "--format", format)...))
		}
	}
	for _, args := range [][]string{
		{"subscribers", "delete", id},
		{"subscriptions", "list", "--subscriber", id},
		{"subscriptions", "update", subscription, "--header", "Authorization: @header"},
	} {
		h.runAllowing("SubscriberID", h.command(append(args, "--dry-run")...))
	}
}

// runWithKey authenticates with an API key from a file.
func (h *secretsTest) runWithKey() {
	h.write("key", h.secrets["API key"]+"\n")
	h.run("whoami", "--token-file", "key")
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
		h.checkRunning(args...)
	}
}

// checkRunning checks the arguments and environment of a process of whctl that is connected.
func (h *secretsTest) checkRunning(args ...string) {
	h.t.Helper()
	cmd := process(h.t, h.service.URL, args...)
	cmd.Dir = h.dir
	cmd.Env = append(withoutSecrets(cmd.Env), h.env...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	line, err := bufio.NewReader(stderr).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "connected to ") {
		h.t.Errorf("whctl %q: got %q, error %v; want a connection", args, line, err)
	}
	for _, file := range []string{"cmdline", "environ"} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", cmd.Process.Pid, file))
		if err != nil || len(text) == 0 {
			h.t.Errorf("whctl %q: reading %s: %d bytes, %v", args, file, len(text), err)
		}
		// HTTPS_PROXY is set by the test.
		if names := h.secrets.in(string(text), "proxy"); names != nil {
			h.t.Errorf("whctl %q: the secrets %q are in %s", args, names, file)
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		h.t.Error(err)
	}
	_, _ = io.Copy(io.Discard, stderr)
	_ = cmd.Wait() // the exit code is irrelevant
}

// secretFiles are the files with secrets that the test or --secret-file has written.
var secretFiles = []string{"header", "key", "secret", "another"}

// checkFiles checks all files that whctl has written. The session may be in logins.toml,
// because --insecure-storage allows it; only the user may read that file.
func (h *secretsTest) checkFiles() {
	err := filepath.WalkDir(h.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() || slices.Contains(secretFiles, name) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		allowed := ""
		if name == "logins.toml" {
			allowed = "session"
			info, err := entry.Info()
			if err != nil {
				return err
			}
			if mode := info.Mode().Perm(); mode != output.PrivateFile {
				h.t.Errorf("%s has the mode %v, want %v", path, mode, output.PrivateFile)
			}
		}
		if names := h.secrets.in(string(text), allowed); names != nil {
			h.t.Errorf("the secrets %q are in %s", names, path)
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
	h.run("doctor", "--bundle", "found.zip")
	archive, err := zip.OpenReader(filepath.Join(h.dir, "found.zip"))
	if err != nil {
		h.t.Fatal(err)
	}
	defer archive.Close()
	h.secrets["address"] = "canary-of-an-address"
	seen := "" // text of all files
	for _, f := range archive.File {
		in, err := f.Open()
		if err != nil {
			h.t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			h.t.Fatal(err)
		}
		if names := h.secrets.in(string(text)); names != nil {
			h.t.Errorf("the secrets %q are in %s of the bundle", names, f.Name)
		}
		seen += string(text)
	}
	id := h.secrets["SubscriberID"]
	shortID := id[:4] + ".." + id[len(id)-4:]
	for _, want := range []string{"canary shop", shortID, "127.0.0.1", "http://***@127.0.0.1:1"} {
		if !strings.Contains(seen, want) {
			h.t.Errorf("the bundle lacks %q", want)
		}
	}
}
