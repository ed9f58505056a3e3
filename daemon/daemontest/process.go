package daemontest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/bizhook/whd/cmd/daemon/whd"
)

const (
	processVariable  = "DAEMONTEST_PROCESS"  // is set in daemons
	profilesVariable = "DAEMONTEST_PROFILES" // names a directory for their CPU profiles
)

// Main is for TestMain of tests that start daemons in processes of their own.
func Main(m *testing.M) {
	PlayIfLaunched()
	os.Exit(m.Run())
}

// PlayIfLaunched is what Main begins with, for a TestMain that has more to do. It
// does not return from a process that was started to be a daemon.
func PlayIfLaunched() {
	if os.Getenv(processVariable) != "" {
		os.Exit(play(os.Args[1:]))
	}
}

// Process is a daemon in a process of its own, as it ships.
type Process struct {
	URL   string
	cmd   *exec.Cmd
	stdin io.Closer // its end ends the process, even if this one is killed
	out   io.Reader
	log   *os.File
}

// Launch begins a daemon on a data directory, where it logs to a file, and does
// not wait for it. The arguments are as those of Start.
func Launch(dir string, args ...string) (*Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return Program{Path: self}.Launch(dir, args...)
}

// Program is a test that calls Main, built in a way of its own.
type Program struct {
	Path string
	Env  []string // beside this process's own
}

// Launch is the function Launch with this program.
func (g Program) Launch(dir string, args ...string) (*Process, error) {
	p := &Process{cmd: exec.Command(g.Path, append([]string{"serve", "--listen", "127.0.0.1:0", "--data-dir", dir}, args...)...)}
	p.cmd.Env = slices.Concat(os.Environ(), g.Env, []string{processVariable + "=1", "WHD_ADMIN_PASSWORD=" + AdminPassword})
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if p.out, err = p.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if p.log, err = os.OpenFile(filepath.Join(dir, "process.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return nil, err
	}
	p.cmd.Stderr = p.log
	return p, p.cmd.Start()
}

// Command is a command of whd in a process of its own, which the caller starts
// and waits for.
func Command(args ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), processVariable+"=1")
	_, err = cmd.StdinPipe() // whose end would end the command
	return cmd, err
}

// Await waits until the daemon listens.
func (p *Process) Await() error {
	lines := bufio.NewScanner(p.out)
	for lines.Scan() {
		if _, address, ok := strings.Cut(lines.Text(), "serves http://"); ok {
			p.URL = "http://" + address
			go io.Copy(io.Discard, p.out)
			return nil
		}
	}
	return fmt.Errorf("the daemon ended before it listened: %w", errors.Join(lines.Err(), p.said()))
}

// said is what the daemon has logged last.
func (p *Process) said() error {
	text, err := os.ReadFile(p.log.Name())
	if err != nil {
		return err
	}
	const enough = 2000
	return errors.New(string(text[max(0, len(text)-enough):]))
}

// PID is the number of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Kill ends the daemon at once, as a failure of power would.
func (p *Process) Kill() error {
	err := p.cmd.Process.Kill()
	_ = p.cmd.Wait() // says that it was killed
	return errors.Join(err, p.log.Close())
}

// Stop ends the daemon as it should be.
func (p *Process) Stop() error {
	return errors.Join(p.stdin.Close(), p.cmd.Wait(), p.log.Close())
}

// Wait waits for a daemon that was stopped by a signal. An exit status other
// than 0 is an *exec.ExitError.
func (p *Process) Wait() error { return errors.Join(p.cmd.Wait(), p.log.Close()) }

// play is the daemon until standard input ends, or a signal comes.
func play(args []string) int {
	end, err := profile()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer end()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		io.Copy(io.Discard, os.Stdin)
		signals <- os.Interrupt
	}()
	return whd.Main(whd.Process{Args: args, Env: os.Environ(), Stdin: new(bytes.Reader), Stdout: os.Stdout, Stderr: os.Stderr, Signals: signals, Reloads: hangups})
}

func hangups() <-chan os.Signal {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	return signals
}

// profile writes the process's CPU profile where that is asked for.
func profile() (end func(), err error) {
	dir := os.Getenv(profilesVariable)
	if dir == "" {
		return func() {}, nil
	}
	file, err := os.Create(filepath.Join(dir, fmt.Sprintf("daemon-%d.pprof", os.Getpid())))
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, err
	}
	return func() {
		pprof.StopCPUProfile()
		file.Close()
	}, nil
}
