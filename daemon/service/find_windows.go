package service

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/svc"
	"golang.org/x/sys/windows/svc/eventlog"
)

func find(_ []string, order func(Order)) (manager, error) {
	isService, err := isService()
	if err != nil || !isService {
		return unsupervised{}, err
	}
	log, err := eventlog.Open(Name)
	if err != nil {
		return unsupervised{}, fmt.Errorf("opening the event log: %w", err)
	}
	w := &windowsService{
		order:  order,
		events: log,
		states: make(chan svc.Status),
		exit:   make(chan uint32),
		over:   make(chan struct{}),
	}
	go func() {
		defer close(w.over)
		if err := svc.Run(Name, w); err != nil {
			_ = log.Error(eventFailed, eventText("cannot connect to the service manager: "+err.Error()))
			order(Stop)
		}
	}()
	return w, nil
}

// isService reports whether the service manager started the program. svc.IsWindowsService also
// requires session 0, in which Wine does not run services.
func isService() (bool, error) {
	name, err := parentName()
	return strings.EqualFold(name, "services.exe"), err
}

// ReportToInstaller writes the error of a command to the event log if the installer runs it, which
// discards its output. The source need not be registered.
func ReportToInstaller(failed error) {
	if failed == nil {
		return
	}
	name, err := parentName()
	if err != nil || !strings.EqualFold(name, "msiexec.exe") {
		return
	}
	log, err := eventlog.Open(Name)
	if err != nil {
		return
	}
	defer log.Close()
	_ = log.Error(eventFailed, eventText("the installation of "+Name+" has failed: "+failed.Error()))
}

// parentName returns the file name of the program that started this one, or "" if it has ended.
func parentName() (string, error) {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return "", fmt.Errorf("listing the processes: %w", err)
	}
	defer windows.CloseHandle(snapshot)
	parent := uint32(os.Getppid())
	var process windows.ProcessEntry32
	process.Size = uint32(unsafe.Sizeof(process))
	err = windows.Process32First(snapshot, &process)
	for err == nil {
		if process.ProcessID == parent {
			return windows.UTF16ToString(process.ExeFile[:]), nil
		}
		err = windows.Process32Next(snapshot, &process)
	}
	if errors.Is(err, windows.ERROR_NO_MORE_FILES) {
		return "", nil
	}
	return "", fmt.Errorf("listing the processes: %w", err)
}

// windowsService communicates with the service manager of Windows.
type windowsService struct {
	unsupervised
	order  func(Order)
	events *eventlog.Log
	states chan svc.Status
	exit   chan uint32
	over   chan struct{} // closed when svc.Run has returned
}

// IDs of entries in the event log, by which administrators filter. The messages of 1 to 1000
// consist of the entry's text only.
const (
	eventReady     = 100
	eventReloading = 101
	eventStopping  = 102
	eventWarning   = 200
	eventError     = 300
	eventFailed    = 301 // the service has ended, or cannot start
)

// eventIDs are the IDs of states.
var eventIDs = map[state]uint32{ready: eventReady, reloading: eventReloading, stopping: eventStopping}

// step is the interval of progress reports while the service starts or stops.
const step = 2 * time.Second

// accepted are the requests that a running service accepts.
const accepted = svc.AcceptStop | svc.AcceptShutdown | svc.AcceptParamChange

// Execute forwards requests and states until the service ends.
func (w *windowsService) Execute(
	_ []string, requests <-chan svc.ChangeRequest, states chan<- svc.Status,
) (bool, uint32) {
	current := svc.Status{State: svc.StartPending, WaitHint: uint32((2 * step).Milliseconds())}
	states <- current
	ticker := time.NewTicker(step)
	defer ticker.Stop()
	for {
		select {
		case r := <-requests:
			w.handle(r, states)
		case current = <-w.states:
			states <- current
		case <-ticker.C:
			if current.State != svc.Running {
				current.CheckPoint++
				states <- current
			}
		case code := <-w.exit:
			return code != 0, code
		}
	}
}

func (w *windowsService) handle(r svc.ChangeRequest, states chan<- svc.Status) {
	switch r.Cmd {
	case svc.Interrogate:
		states <- r.CurrentStatus
	case svc.Stop, svc.Shutdown:
		w.order(Stop)
	case svc.ParamChange:
		w.order(Reload)
	}
}

func (w *windowsService) notify(s state, _ time.Duration, status string) error {
	reported := svc.Status{State: svc.Running, Accepts: accepted}
	if s == stopping {
		reported = svc.Status{State: svc.StopPending, WaitHint: uint32((2 * step).Milliseconds())}
	}
	select {
	case w.states <- reported:
	case <-w.over:
	}
	return w.events.Info(eventIDs[s], eventText(Name+" "+status))
}

func (w *windowsService) logHandler(slog.Handler) slog.Handler { return newEventHandler(w.events) }

// end waits until the service manager has the exit code, before the process ends.
func (w *windowsService) end(status int, err error) {
	if err != nil {
		_ = w.events.Error(eventFailed, eventText(Name+" has failed: "+err.Error()))
	}
	select {
	case w.exit <- uint32(status):
		<-w.over
	case <-w.over:
	}
}
