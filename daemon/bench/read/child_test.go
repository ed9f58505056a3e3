package read

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"strings"

	"github.com/bizhook/whd/cmd/daemon/whd"
)

const (
	roleDaemon = "daemon"
	roleFloor  = "floor"

	profilesVariable = "READBENCH_PROFILES"
)

// child is one of the servers in a separate process.
type child struct {
	role    string
	cmd     *exec.Cmd
	stdin   io.Closer // closing it ends the process, even if this process is killed
	log     *os.File
	address string
}

// start runs a server on a data directory. Its log is written to a file, as in
// production.
func start(role string, d data) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{role: role, cmd: exec.Command(self, d.dir)}
	c.cmd.Env = append(os.Environ(), roleVariable+"="+role, serverVariable+"="+d.server, settingVariable+"="+d.env)
	if c.log, err = os.OpenFile(filepath.Join(d.dir, role+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return nil, err
	}
	c.cmd.Stderr = c.log
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	if c.address, err = announced(stdout); err != nil {
		err = errors.Join(err, c.stop())
		output, _ := os.ReadFile(c.log.Name()) // best effort
		return nil, fmt.Errorf("starting the %s: %w\n%s", role, err, output)
	}
	return c, nil
}

// announced reads a server's output up to its address, and discards the rest.
func announced(stdout io.Reader) (string, error) {
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if _, address, ok := strings.Cut(lines.Text(), "serves http://"); ok {
			go io.Copy(io.Discard, stdout)
			return address, nil
		}
	}
	return "", errors.Join(errors.New("the server printed no address"), lines.Err())
}

func (c *child) pid() int { return c.cmd.Process.Pid }

func (c *child) stop() error {
	return errors.Join(c.stdin.Close(), c.cmd.Wait(), c.log.Close())
}

// runDaemon runs the whole daemon on a data directory until standard input is
// closed.
func runDaemon(dir string) int {
	stop, err := profile()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer stop()
	signals := make(chan os.Signal, 1)
	go func() {
		io.Copy(io.Discard, os.Stdin)
		signals <- os.Interrupt
	}()
	env := strings.Fields(os.Getenv(settingVariable))
	if server := os.Getenv(serverVariable); server != "" {
		env = append(env, "WHD_STORE="+server)
	}
	return whd.Main(whd.Process{
		Args:    []string{"serve", "--listen", "127.0.0.1:0", "--data-dir", dir},
		Env:     env,
		Stdout:  os.Stdout,
		Stderr:  os.Stderr,
		Signals: signals,
	})
}

// profile writes the process's CPU profile if it is enabled.
func profile() (stop func(), err error) {
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
