//go:build unix

package daemontest

import "syscall"

// CanFreeze is whether this platform can suspend processes.
const CanFreeze = true

// Freeze suspends the daemon until Thaw.
func (p *Process) Freeze() error { return p.Signal(syscall.SIGSTOP) }

// Thaw resumes the daemon.
func (p *Process) Thaw() error { return p.Signal(syscall.SIGCONT) }
