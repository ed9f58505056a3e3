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
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bizhook/whd/cmd/whctl/profile"
	"github.com/rogpeppe/go-internal/testscript"
)

// storyCommands are what stories need beside whctl:
//
//	receive NAME STATUS...      begins a receiver at $NAME, which answers with these, the last one again and again; hold never answers
//	start NAME COMMAND...       begins a command
//	await NAME REGEXP           waits until a line of what was received, or printed, matches
//	interrupt NAME CODE         interrupts a command and checks its exit code
//	finish NAME CODE            waits for a command and checks its exit code
//	exits CODE COMMAND...       runs a command as exec does, and checks its exit code
//	capture NAME                sets $NAME to the last line of stdout
//	unpack FILE DIR             unpacks a zip
func storyCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"receive": receive, "start": start, "await": await, "interrupt": finish(true), "finish": finish(false), "exits": execExits, "capture": capture,
		"unpack": unpack,
	}
}

// lines are what somebody has said so far.
type lines struct {
	mu    sync.Mutex
	all   []string
	grown chan struct{} // closed at the next line
	cmd   *exec.Cmd     // whose they are; nil of a receiver
	rest  sync.WaitGroup
}

// castKey is where a story keeps who plays in it: *lines, by name.
type castKey struct{}

func cast(ts *testscript.TestScript) *sync.Map { return ts.Value(castKey{}).(*sync.Map) }

func of(ts *testscript.TestScript, name string) *lines {
	l, ok := cast(ts).Load(name)
	if !ok {
		ts.Fatalf("there is no %s", name)
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

// receive keeps of each request the event's name and the body. What fails does
// so for good.
func receive(ts *testscript.TestScript, _ bool, args []string) {
	l := &lines{grown: make(chan struct{})}
	codes := args[1:]
	if codes[0] == "hold" {
		receiveWithoutAnswer(ts, args[0])
		return
	}
	var mu sync.Mutex
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
		l.add(fmt.Sprintf("%d %s %s %s", code, event, strings.ReplaceAll(string(body), "\n", ""), r.Header.Get("Webhook-Signature")))
	}))
	ts.Defer(server.Close)
	ts.Setenv(args[0], server.URL)
	cast(ts).Store(args[0], l)
}

// receiveWithoutAnswer holds each request until the story is over.
func receiveWithoutAnswer(ts *testscript.TestScript, name string) {
	over := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-over }))
	ts.Defer(func() {
		close(over)
		server.Close()
	})
	ts.Setenv(name, server.URL)
}

func start(ts *testscript.TestScript, _ bool, args []string) {
	path, err := exec.LookPath(args[1])
	ts.Check(err)
	l := &lines{grown: make(chan struct{}), cmd: exec.Command(path, args[2:]...)}
	l.cmd.Dir = ts.Getenv("WORK")
	for _, name := range []string{profile.EnvURL, profile.EnvUser, profile.EnvPassword, profile.EnvConfig, "HOME", "PATH", "TMPDIR"} {
		l.cmd.Env = append(l.cmd.Env, name+"="+ts.Getenv(name))
	}
	for _, pipe := range []func() (io.ReadCloser, error){l.cmd.StdoutPipe, l.cmd.StderrPipe} {
		from, err := pipe()
		ts.Check(err)
		l.rest.Go(func() {
			for in := bufio.NewScanner(from); in.Scan(); {
				l.add(in.Text())
			}
		})
	}
	ts.Check(l.cmd.Start())
	ts.Defer(func() { _ = l.cmd.Process.Kill() }) // it has ended, unless the story failed
	cast(ts).Store(args[0], l)
}

func await(ts *testscript.TestScript, _ bool, args []string) {
	l, pattern := of(ts, args[0]), regexp.MustCompile(args[1])
	enough := time.After(testTimeout)
	for {
		all, grown := l.read()
		for _, line := range all {
			if pattern.MatchString(line) {
				return
			}
		}
		select {
		case <-grown:
		case <-enough:
			ts.Fatalf("no line of %s matches %s:\n%s", args[0], args[1], strings.Join(all, "\n"))
		}
	}
}

func finish(interrupt bool) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, args []string) {
		l := of(ts, args[0])
		if interrupt {
			ts.Check(l.cmd.Process.Signal(os.Interrupt))
		}
		l.rest.Wait()
		_ = l.cmd.Wait() // its code says more
		if code := strconv.Itoa(l.cmd.ProcessState.ExitCode()); code != args[1] {
			all, _ := l.read()
			ts.Fatalf("%s ended with %s, want %s:\n%s", args[0], code, args[1], strings.Join(all, "\n"))
		}
	}
}

func execExits(ts *testscript.TestScript, _ bool, args []string) {
	code := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

func capture(ts *testscript.TestScript, _ bool, args []string) {
	text := strings.TrimSpace(ts.ReadFile("stdout"))
	ts.Setenv(args[0], text[strings.LastIndex(text, "\n")+1:])
}

func unpack(ts *testscript.TestScript, _ bool, args []string) {
	archive, err := zip.OpenReader(ts.MkAbs(args[0]))
	ts.Check(err)
	defer archive.Close()
	ts.Check(os.CopyFS(filepath.Clean(ts.MkAbs(args[1])), archive))
}
