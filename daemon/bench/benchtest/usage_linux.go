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
// each process, with an ID derived from the PID.
func CPUTime(pid int) (time.Duration, error) {
	const schedulerClock = 2
	var at syscall.Timespec
	_, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, uintptr(^pid<<3|schedulerClock),
		uintptr(unsafe.Pointer(&at)), 0)
	if errno != 0 {
		return 0, errno
	}
	return time.Duration(at.Nano()), nil
}

// Memory returns the resident memory of a process, now and at its peak since the last
// ResetPeak, in MB.
func Memory(pid int) (now, peak float64, err error) {
	file, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		name, text, _ := strings.Cut(lines.Text(), ":")
		if name != "VmRSS" && name != "VmHWM" {
			continue
		}
		var kibibytes float64
		if _, err := fmt.Sscan(text, &kibibytes); err != nil {
			return 0, 0, err
		}
		if name == "VmRSS" {
			now = kibibytes / 1024
		} else {
			peak = kibibytes / 1024
		}
	}
	return now, peak, nil
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
	const tick = time.Second / 100 // of /proc/stat, on all architectures
	return time.Duration(user+nice+system+interrupts+soft) * tick, err
}
