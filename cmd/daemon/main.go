// Command whd is a daemon that serves the records of a business management system
// over HTTP and delivers webhooks. `whd help` lists its commands.
package main

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/bizhook/whd/cmd/daemon/whd"
)

func main() {
	keepFilesPrivate()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	os.Exit(whd.Main(whd.Process{
		Args:    os.Args[1:],
		Env:     os.Environ(),
		Stdin:   os.Stdin,
		Stdout:  os.Stdout,
		Stderr:  os.Stderr,
		Signals: signals,
		Reloads: reloads,
	}))
}

// reloads subscribes to SIGHUP, which would otherwise end the program.
func reloads() <-chan os.Signal {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	return hangups
}
