package cli

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// stopSignals has the signals that stop a program.
var stopSignals = []os.Signal{os.Interrupt, syscall.SIGTERM}

// StopSignals returns a channel that receives the signals that stop a program. It has room for
// two: after the second one, the program does not wait for the work in progress.
func StopSignals() chan os.Signal {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, stopSignals...)
	return signals
}

// Hangups returns a channel that receives SIGHUP, which would otherwise end the process.
func Hangups() <-chan os.Signal {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	return hangups
}

// CancelOnSignal returns a context that a signal to stop cancels. A hangup is one of them, so
// that a closed terminal leaves no part of a file, unless it is ignored as under nohup. Until
// stop is called, signals do not end the process.
func CancelOnSignal(parent context.Context) (ctx context.Context, stop context.CancelFunc) {
	signals := slices.Clone(stopSignals)
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signal.NotifyContext(parent, signals...)
}

// CommandContext returns the context of a process that runs one command. The first signal
// cancels it, and the second one ends the process. Writing to a closed pipe is an error instead
// of a signal.
func CommandContext() context.Context {
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := CancelOnSignal(context.Background())
	context.AfterFunc(ctx, stop)
	return ctx
}
