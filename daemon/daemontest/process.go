package daemontest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/cmd/daemon/whd"
)

const (
	processVariable  = "DAEMONTEST_PROCESS"  // set in daemon processes
	profilesVariable = "DAEMONTEST_PROFILES" // directory for their CPU profiles
)

// Main is the TestMain of packages that use Launch or Command.
func Main(m *testing.M) {
	RunIfLaunched()
	os.Exit(m.Run())
}

// RunIfLaunched is the first step of Main, for a TestMain that has more to do. In a
// process that Launch or Command has started it runs whd and does not return.
func RunIfLaunched() {
	if os.Getenv(processVariable) != "" {
		os.Exit(runProgram(os.Args[1:]))
	}
}

// Process is a daemon in a separate process.
type Process struct {
	URL   string
	cmd   *exec.Cmd
	stdin io.Closer // closing it ends the process, even if this process is killed
	out   io.Reader
	log   *os.File
}

// ProcessLog is the log of a daemon that Launch starts, in its data directory.
const ProcessLog = "process.log"

// Launch starts a daemon on a data directory, without waiting until it listens. It logs to
// the file ProcessLog there. The arguments are those of Start.
func Launch(dir string, args ...string) (*Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return Program{Path: self}.Launch(dir, args...)
}

// Program is a test binary with a TestMain that calls Main, for example one built with other
// flags.
type Program struct {
	Path string
	Env  []string // added to this process's environment
}

// Launch is like the function Launch, with this program. Its shutdown may take two minutes.
func (g Program) Launch(dir string, args ...string) (*Process, error) {
	serve := []string{"serve", "--http-shutdown-grace", timeout.String()}
	return g.Start(filepath.Join(dir, ProcessLog), append(serve, flags(dir, args)...)...)
}

// Start starts the program with arguments of whd, and its log in a file. It may also start
// another server than whd: if TestMain looks for a variable of Env before it calls Main. Await
// expects a line with "serves" and the address from both.
func (g Program) Start(logFile string, args ...string) (*Process, error) {
	p := &Process{cmd: exec.Command(g.Path, args...)}
	variables := []string{processVariable + "=1", "WHD_ADMIN_PASSWORD=" + AdminPassword}
	p.cmd.Env = slices.Concat(os.Environ(), g.Env, variables)

	var err error
	p.stdin, err = p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	p.out, err = p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.log, err = os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	p.cmd.Stderr = p.log
	return p, p.cmd.Start()
}

// Command returns a command of whd, to be run in a separate process.
func Command(args ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), processVariable+"=1")
	_, err = cmd.StdinPipe() // the command ends with its standard input
	return cmd, err
}

// Await waits until the daemon listens, and sets URL. If the daemon exits before, the error
// contains the end of its log.
func (p *Process) Await() error {
	lines := bufio.NewScanner(p.out)
	for lines.Scan() {
		_, address, ok := strings.Cut(lines.Text(), "serves http://")
		if ok {
			p.URL = "http://" + address
			go io.Copy(io.Discard, p.out) // a full pipe would block the daemon
			return nil
		}
	}
	return fmt.Errorf("the process ended before it listened: %w", errors.Join(lines.Err(), p.lastLog()))
}

// lastLog returns the end of the daemon's log as an error.
func (p *Process) lastLog() error {
	text, err := os.ReadFile(p.log.Name())
	if err != nil {
		return err
	}
	const maxBytes = 2000
	return errors.New(string(text[max(0, len(text)-maxBytes):]))
}

// PID returns the process ID.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Signal sends the daemon a signal.
func (p *Process) Signal(s os.Signal) error { return p.cmd.Process.Signal(s) }

// Kill kills the daemon without a shutdown, like a power failure.
func (p *Process) Kill() error {
	err := p.cmd.Process.Kill()
	_ = p.cmd.Wait() // fails, since the process was killed
	return errors.Join(err, p.log.Close())
}

// Stop shuts the daemon down and waits for its end. If it fails, the error contains the end of
// its log.
func (p *Process) Stop() error {
	err := errors.Join(p.stdin.Close(), p.cmd.Wait())
	if err != nil {
		err = errors.Join(err, p.lastLog())
	}
	return errors.Join(err, p.log.Close())
}

// Wait waits for the end of a daemon that was stopped by a signal. An exit status other
// than 0 is an *exec.ExitError.
func (p *Process) Wait() error { return errors.Join(p.cmd.Wait(), p.log.Close()) }

// runProgram runs whd until standard input ends or a signal arrives, and returns the exit
// status.
func runProgram(args []string) int {
	stopProfile, err := profile()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer stopProfile()
	p := whd.NewProcess(args)
	p.Stdin = new(bytes.Reader)
	go func() {
		io.Copy(io.Discard, os.Stdin)
		p.Signals <- os.Interrupt
	}()
	return whd.Main(p)
}

// profile writes the process's CPU profile if profilesVariable is set.
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
