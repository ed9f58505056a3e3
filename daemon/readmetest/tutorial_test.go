package readmetest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/daemontest/clientstest"
)

const tutorialPage = "cmd/daemon/docs/tutorial.md"

// TestTutorialInPython runs the receiver of the tutorial.
func TestTutorialInPython(t *testing.T) {
	python := clientstest.Tool(t, "python3")
	r := newTutorial(t, "python", "receiver.py")
	r.try(t, exec.CommandContext(t.Context(), python, r.program))
}

// TestTutorialInCSharp runs the receiver of the tutorial.
func TestTutorialInCSharp(t *testing.T) {
	compiler := clientstest.Tool(t, "mcs")
	mono := clientstest.Tool(t, "mono")
	r := newTutorial(t, "csharp", "Program.cs")
	compile := exec.CommandContext(t.Context(), compiler, "-out:"+r.program+".exe", r.program)
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r.try(t, exec.CommandContext(t.Context(), mono, r.program+".exe"))
}

// tutorial is a receiver of the tutorial, and the service that it receives from.
type tutorial struct {
	service *daemontest.Instance
	address string // of the receiver
	dir     string // in which it runs
	program string
}

// newTutorial starts a service and writes the program of a language for an unused port.
func newTutorial(t *testing.T, language, file string) tutorial {
	t.Helper()
	r := tutorial{
		service: daemontest.Start(t, "--webhooks-allow-targets", "127.0.0.0/8", "--webhooks-retry-schedule", "1s,1s,1s"),
		address: fmt.Sprintf("http://127.0.0.1:%d/", daemontest.FreePort(t)),
		dir:     t.TempDir(),
	}
	if err := os.Mkdir(filepath.Join(r.dir, ".whd"), 0o700); err != nil {
		t.Fatal(err)
	}
	port := strings.Trim(strings.TrimPrefix(r.address, "http://127.0.0.1:"), "/")
	text := ""
	for _, b := range blocksOf(t, readPage(t, tutorialPage)) {
		if b.language == language {
			text = strings.ReplaceAll(strings.Join(b.lines, "\n"), "3000", port)
		}
	}
	if text == "" {
		t.Fatalf("%s has no block of %s", tutorialPage, language)
	}
	r.program = filepath.Join(r.dir, file)
	if err := os.WriteFile(r.program, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return r
}

// try subscribes the receiver, publishes an event before it runs, starts it, and expects that it
// prints both that event, which is retried, and another one; and that it rejects others.
func (r tutorial) try(t *testing.T, receiver *exec.Cmd) {
	t.Helper()
	var subscriber struct{ RecID string }
	r.post(t, "/Webhooks/Subscribers", `{"Name": "Tutorial"}`, &subscriber)
	var subscription struct{ Secret string }
	r.post(t, "/Webhooks/Subscribers/"+subscriber.RecID+"/Subscriptions",
		fmt.Sprintf(`{"URL": %q, "EventName": "debtor.*"}`, r.address), &subscription)
	secretFile := filepath.Join(r.dir, ".whd", "receiver.secret")
	if err := os.WriteFile(secretFile, []byte(subscription.Secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const event = `{"EventName": "debtor.updated", "Body": {"DebtorID": "%s"}}`
	r.post(t, "/Webhooks/Events", fmt.Sprintf(event, "0001"), nil)

	receiver.Dir = r.dir
	receiver.Stderr = t.Output()
	out, err := receiver.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := receiver.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(time.Minute, func() { _ = receiver.Process.Kill() }) // ends its output
	t.Cleanup(func() {
		late.Stop()
		_ = receiver.Process.Kill()
		_ = receiver.Wait()
	})
	lines := bufio.NewScanner(out)
	r.expect(t, lines, "0001")
	r.post(t, "/Webhooks/Events", fmt.Sprintf(event, "0002"), nil)
	r.expect(t, lines, "0002")

	forged, err := http.Post(r.address, "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer forged.Body.Close()
	if forged.StatusCode != http.StatusUnauthorized {
		t.Errorf("a message without a signature: %s, want status 401", forged.Status)
	}
}

// expect reads the line that the receiver prints for an event.
func (r tutorial) expect(t *testing.T, lines *bufio.Scanner, debtor string) {
	t.Helper()
	want := fmt.Sprintf(`received debtor.updated {"DebtorID": "%s"}`, debtor)
	if !lines.Scan() || lines.Text() != want {
		t.Fatalf("the receiver printed %q (%v), want %q", lines.Text(), lines.Err(), want)
	}
}

// post sends a request of the admin and reads the reply, unless it is nil.
func (r tutorial) post(t *testing.T, path, body string, reply any) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.service.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.SetBasicAuth("admin", daemontest.AdminPassword)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= http.StatusMultipleChoices {
		t.Fatalf("POST %s: %s %s (%v)", path, response.Status, text, err)
	}
	if reply == nil {
		return
	}
	if err := json.Unmarshal(text, reply); err != nil {
		t.Fatalf("POST %s: %v in %s", path, err, text)
	}
}
