//go:build unix

package tui

import (
	"context"
	"os"
	"os/signal"

	tea "github.com/charmbracelet/bubbletea"
	"golang.org/x/sys/unix"
)

// jobControl returns the terminal to the shell when the program is suspended, by ctrl+z or by
// SIGTSTP, and when SIGQUIT ends it.
type jobControl struct {
	ctx        context.Context // done when the program ends
	input      *terminalInput
	canSuspend func() bool
	program    *tea.Program
	signals    chan os.Signal
}

// newJobControl returns the job control of a program that reads in.
func newJobControl(ctx context.Context, in *terminalInput, canSuspend func() bool) *jobControl {
	return &jobControl{ctx: ctx, input: in, canSuspend: canSuspend, signals: make(chan os.Signal, 1)}
}

// start handles the signals from now on.
func (j *jobControl) start(program *tea.Program) {
	j.program = program
	signal.Notify(j.signals, unix.SIGQUIT)
	if !signal.Ignored(unix.SIGTSTP) {
		signal.Notify(j.signals, unix.SIGTSTP)
	}
	go func() {
		for received := range j.signals {
			switch received {
			case unix.SIGQUIT:
				j.quit()
			case unix.SIGTSTP:
				if j.canSuspend() {
					j.program.Send(tea.SuspendMsg{})
				}
			}
		}
	}()
}

// end stops handling the signals.
func (j *jobControl) end() {
	signal.Stop(j.signals)
	close(j.signals)
}

// filter suspends the program in place of bubbletea, which does not know that the terminal is in
// raw mode.
func (j *jobControl) filter(_ tea.Model, m tea.Msg) tea.Msg {
	if _, ok := m.(tea.SuspendMsg); !ok {
		return m
	}
	j.suspend()
	return nil
}

// suspend stops the processes of the job until the shell continues them.
func (j *jobControl) suspend() {
	j.release()
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, unix.SIGCONT)
	defer signal.Stop(continued)
	_ = unix.Kill(0, unix.SIGSTOP) // the Go runtime does not restore the default action of SIGTSTP
	select {
	case <-continued:
	case <-j.ctx.Done():
		return
	}
	if err := j.input.resume(); err != nil {
		j.program.Kill()
		return
	}
	_ = j.program.RestoreTerminal()
	go j.program.Send(tea.ResumeMsg{})
}

// release restores the terminal.
func (j *jobControl) release() {
	j.input.suspend()
	_ = j.program.ReleaseTerminal()
}

// quit ends the process as SIGQUIT does, which writes the stacks of all goroutines.
func (j *jobControl) quit() {
	j.release()
	signal.Reset(unix.SIGQUIT)
	_ = unix.Kill(unix.Getpid(), unix.SIGQUIT)
	<-j.ctx.Done()
}

// canSuspend reports whether a shell with job control waits for the program. Without one, as in a
// terminal window of its own or in the command of ssh, the process group is orphaned: the system
// ignores the request to stop, and the program would wait for a signal to continue.
func canSuspend() bool {
	if signal.Ignored(unix.SIGTSTP) {
		return false
	}
	session, err := unix.Getsid(0)
	if err != nil {
		return false
	}
	// A shell with job control starts each command in a process group of its own. The parent alone
	// does not decide: it can be a script in the group of the program.
	if unix.Getpgrp() == session {
		return false
	}
	parent, err := unix.Getsid(unix.Getppid())
	return err == nil && parent == session // else the shell has ended
}
