//go:build unix

package tui

import "golang.org/x/sys/unix"

// canSuspend reports whether a shell with job control waits for the program. Without one, as in a
// terminal window of its own or in the command of ssh, the process group is orphaned: the system
// ignores the request to stop, and the program would wait for a signal to continue.
func canSuspend() bool {
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
