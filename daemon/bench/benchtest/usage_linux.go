package benchtest

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// CPUTime returns the CPU time used by all threads of a process. The kernel has a clock for
// each process, with an ID derived from the PID: MAKE_PROCESS_CPUCLOCK(pid, CPUCLOCK_SCHED) of
// include/linux/posix-timers.h.
func CPUTime(pid int) (time.Duration, error) {
	const schedulerClock = 2 // CPUCLOCK_SCHED
	clock := ^pid<<3 | schedulerClock
	var used syscall.Timespec
	_, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, uintptr(clock),
		uintptr(unsafe.Pointer(&used)), 0)
	if errno != 0 {
		return 0, errno
	}
	return time.Duration(used.Nano()), nil
}

// Memory returns the resident memory of a process, now and at its peak since the last
// ResetPeak, in MiB. It fails for a process that has ended, also while its parent has not waited
// for it: the kernel then lists it without its memory.
func Memory(pid int) (now, peak float64, err error) {
	file, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, err
	}
	defer file.Close()
	hasNow, hasPeak := false, false
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		name, text, _ := strings.Cut(lines.Text(), ":")
		switch name {
		case "VmRSS":
			hasNow = true
			now, err = mebibytes(text)
		case "VmHWM":
			hasPeak = true
			peak, err = mebibytes(text)
		}
		if err != nil {
			return 0, 0, err
		}
	}
	if err := lines.Err(); err != nil {
		return 0, 0, err
	}
	if !hasNow || !hasPeak {
		return 0, 0, fmt.Errorf("process %d has ended", pid)
	}
	return now, peak, nil
}

// mebibytes reads a number of KiB, as in " 5120 kB".
func mebibytes(text string) (float64, error) {
	var kibibytes float64
	_, err := fmt.Sscan(text, &kibibytes)
	return kibibytes / 1024, err
}

// ResetPeak makes the present memory of a process its peak.
func ResetPeak(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
}

// BusyTime returns the total time that the machine's processors were busy since boot.
func BusyTime() (time.Duration, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	var user, nice, system, idle, wait, interrupts, soft int64
	_, err = fmt.Sscanf(string(text), "cpu %d %d %d %d %d %d %d",
		&user, &nice, &system, &idle, &wait, &interrupts, &soft)
	// idle and wait are not added: they are times without work.
	const tick = time.Second / 100 // of /proc/stat, on all architectures
	return time.Duration(user+nice+system+interrupts+soft) * tick, err
}
