package delivery

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// cpuTime returns the CPU time used by all threads of a process, in ns. The kernel has
// a clock for each process, with an ID derived from the PID.
func cpuTime(pid int) (time.Duration, error) {
	const schedulerClock = 2
	var at syscall.Timespec
	_, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, uintptr(^pid<<3|schedulerClock), uintptr(unsafe.Pointer(&at)), 0)
	if errno != 0 {
		return 0, errno
	}
	return time.Duration(at.Nano()), nil
}

// peakMemory returns the peak resident memory of a process, in MB.
func peakMemory(pid int) (float64, error) {
	file, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), "VmHWM:"); ok {
			var kilobytes float64
			_, err := fmt.Sscan(text, &kilobytes)
			return kilobytes / 1024, err
		}
	}
	return 0, fmt.Errorf("/proc/PID/status has no VmHWM")
}

// busyTime returns the total time that the machine's processors were busy since boot.
func busyTime() (time.Duration, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	var user, nice, system, idle, wait, interrupts, soft int64
	_, err = fmt.Sscanf(string(text), "cpu %d %d %d %d %d %d %d", &user, &nice, &system, &idle, &wait, &interrupts, &soft)
	const tick = time.Second / 100 // of /proc/stat, on all architectures
	return time.Duration(user+nice+system+interrupts+soft) * tick, err
}
