package main

import (
	"archive/zip"
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bizhook/whd/cmd/whctl/profile"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// scriptCommands returns the commands that scripts have in addition to those of
// testscript:
//
//	receive NAME STATUS...      starts a receiver at $NAME that replies with these statuses, then repeats the last; hold never replies
//	start NAME whctl ARG...     starts whctl
//	await NAME REGEXP           waits until a line that was received or printed matches
//	interrupt NAME CODE         interrupts a command and checks its exit code
//	finish NAME CODE            waits for a command and checks its exit code
//	exits CODE COMMAND...       runs a command like exec and checks its exit code
//	capture NAME                sets $NAME to the last line of stdout
//	unpack FILE DIR             unpacks a zip archive
//	cut BYTES                   resets connections through $CUT_URL to the service after so many bytes
func scriptCommands(line *mssqltest.Proxy) map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"receive":   receive,
		"start":     start,
		"await":     await,
		"interrupt": interrupt,
		"finish":    finish,
		"exits":     execExits,
		"capture":   capture,
		"unpack":    unpack,
		"cut":       cut(line),
	}
}

// lines are the lines that a command has printed, or one for each request that a
// receiver got.
type lines struct {
	mu    sync.Mutex
	all   []string
	grown chan struct{}  // closed at the next line
	cmd   *exec.Cmd      // nil for a receiver
	open  sync.WaitGroup // the output streams of cmd
}

// processesKey is the key of the environment value that has the *lines by name.
type processesKey struct{}

func processes(ts *testscript.TestScript) *sync.Map { return ts.Value(processesKey{}).(*sync.Map) }

// find returns the receiver or command with a name.
func find(ts *testscript.TestScript, name string) *lines {
	l, ok := processes(ts).Load(name)
	if !ok {
		ts.Fatalf("no receiver or command %s", name)
	}
	return l.(*lines)
}

func (l *lines) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, line)
	close(l.grown)
	l.grown = make(chan struct{})
}

func (l *lines) read() (all []string, grown <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all, l.grown
}

// receive runs the command receive. Each line has the status, event, body and
// signature of a request. A status 400 also makes the service give up the message.
func receive(ts *testscript.TestScript, _ bool, args []string) {
	codes := args[1:]
	if codes[0] == "hold" {
		receiveWithoutAnswer(ts, args[0])
		return
	}
	l := &lines{grown: make(chan struct{})}
	var mu sync.Mutex // guards codes
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		code, err := strconv.Atoi(codes[0])
		if len(codes) > 1 {
			codes = codes[1:]
		}
		mu.Unlock()
		ts.Check(err)
		if code == http.StatusBadRequest {
			w.Header().Set("Webhook-Delivery", "abort-message")
		}
		w.WriteHeader(code)
		fmt.Fprintf(w, "answer %d", code)
		event := r.Header.Get("X-Event-Name")
		if r.Header.Get("Webhook-Test") != "" {
			event += " test"
		}
		text := strings.ReplaceAll(string(body), "\n", "")
		l.add(fmt.Sprintf("%d %s %s %s", code, event, text, r.Header.Get("Webhook-Signature")))
	}))
	ts.Defer(server.Close)
	ts.Setenv(args[0], server.URL)
	processes(ts).Store(args[0], l)
}

// receiveWithoutAnswer starts a receiver that holds each request until the script ends.
func receiveWithoutAnswer(ts *testscript.TestScript, name string) {
	done := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-done }))
	ts.Defer(func() {
		close(done)
		server.Close()
	})
	ts.Setenv(name, server.URL)
}

// start runs the command start.
func start(ts *testscript.TestScript, _ bool, args []string) {
	if args[1] != "whctl" {
		ts.Fatalf("start starts whctl, not %s", args[1])
	}
	l := &lines{grown: make(chan struct{}), cmd: exec.Command(ts.Getenv("WHCTL"), args[2:]...)}
	l.cmd.Dir = ts.Getenv("WORK")
	for _, name := range []string{
		profile.EnvURL, profile.EnvUser, profile.EnvPassword, profile.EnvConfig,
		"HOME", "PATH", "TMPDIR",
	} {
		l.cmd.Env = append(l.cmd.Env, name+"="+ts.Getenv(name))
	}
	for _, pipe := range []func() (io.ReadCloser, error){l.cmd.StdoutPipe, l.cmd.StderrPipe} {
		from, err := pipe()
		ts.Check(err)
		l.open.Go(func() {
			for in := bufio.NewScanner(from); in.Scan(); {
				l.add(in.Text())
			}
		})
	}
	ts.Check(l.cmd.Start())
	ts.Defer(func() { _ = l.cmd.Process.Kill() }) // still running only if the script failed
	processes(ts).Store(args[0], l)
}

// await runs the command await.
func await(ts *testscript.TestScript, _ bool, args []string) {
	l := find(ts, args[0])
	pattern := regexp.MustCompile(args[1])
	timeout := time.After(testTimeout)
	for {
		all, grown := l.read()
		if slices.ContainsFunc(all, pattern.MatchString) {
			return
		}
		select {
		case <-grown:
		case <-timeout:
			ts.Fatalf("no line of %s matches %s:\n%s", args[0], args[1], strings.Join(all, "\n"))
		}
	}
}

// interrupt runs the command interrupt.
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	ts.Check(find(ts, args[0]).cmd.Process.Signal(os.Interrupt))
	finish(ts, neg, args)
}

// finish runs the command finish.
func finish(ts *testscript.TestScript, _ bool, args []string) {
	l := find(ts, args[0])
	l.open.Wait()
	_ = l.cmd.Wait() // the exit code is checked next
	if code := strconv.Itoa(l.cmd.ProcessState.ExitCode()); code != args[1] {
		text, _ := l.read()
		ts.Fatalf("%s ended with %s, want %s:\n%s", args[0], code, args[1], strings.Join(text, "\n"))
	}
}

// execExits runs the command exits.
func execExits(ts *testscript.TestScript, _ bool, args []string) {
	code := 0
	err := ts.Exec(args[1], args[2:]...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// capture runs the command capture.
func capture(ts *testscript.TestScript, _ bool, args []string) {
	text := strings.TrimSpace(ts.ReadFile("stdout"))
	ts.Setenv(args[0], text[strings.LastIndex(text, "\n")+1:])
}

// unpack runs the command unpack.
func unpack(ts *testscript.TestScript, _ bool, args []string) {
	archive, err := zip.OpenReader(ts.MkAbs(args[0]))
	ts.Check(err)
	defer archive.Close()
	ts.Check(os.CopyFS(filepath.Clean(ts.MkAbs(args[1])), archive))
}

// cut runs the command cut.
func cut(line *mssqltest.Proxy) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, args []string) {
		bytes, err := strconv.ParseInt(strings.Join(args, " "), 10, 64)
		if err != nil {
			ts.Fatalf("usage: cut BYTES")
		}
		line.CutAfter(bytes)
	}
}
