package mssql

import (
	"context"
	"errors"
	"net"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"
)

// TestOutageErrors classifies errors of unavailable servers.
func TestOutageErrors(t *testing.T) {
	for _, c := range []struct {
		number     int32
		message    string
		connecting bool

		// results
		unavailable, loginFailed, lockTimeout bool
	}{
		{18456, `login error: Login failed for user "whd"`, true, false, true, false},
		{18486, "the account is locked out", true, false, true, false},
		{babelfishUnmapped, `login error: role "whd" is not permitted to log in`, true, false, true, false},
		{911, `login error: database "x" does not exist`, true, true, false, false},
		{4060, "Cannot open database", true, true, false, false},
		{babelfishUnmapped, "the database system is in recovery mode", false, true, false, false},
		{babelfishUnmapped, "the database system is not yet accepting connections", false, true, false, false},
		{babelfishUnmapped, "the database system is starting up", false, true, false, false},
		{babelfishUnmapped, "terminating connection because of crash of another server process", false, true, false, false},
		{babelfishUnmapped, "remaining connection slots are reserved", true, true, false, false},
		{17809, "the maximum number of user connections has been reached", true, true, false, false},
		{922, "the database is being recovered", false, true, false, false},
		{1222, "Lock request time out period exceeded", false, false, false, true},
		{babelfishUnmapped, "canceling statement due to lock timeout", false, false, false, true},
		{8134, "Divide by zero", false, false, false, false},
	} {
		err := wrap(mssql.Error{Number: c.number, Message: c.message})
		if c.connecting {
			err = wrapConnect(mssql.Error{Number: c.number, Message: c.message})
		}
		e, ok := errors.AsType[*Error](err)
		if !ok {
			t.Errorf("%s: got %T %v, want *Error", c.message, err, err)
			continue
		}
		if got := e.Unavailable(); got != c.unavailable {
			t.Errorf("%s: got unavailable %t, want %t", c.message, got, c.unavailable)
		}
		if got := e.LoginFailed(); got != c.loginFailed {
			t.Errorf("%s: got login failed %t, want %t", c.message, got, c.loginFailed)
		}
		if got := e.LockTimeout(); got != c.lockTimeout {
			t.Errorf("%s: got lock timeout %t, want %t", c.message, got, c.lockTimeout)
		}
	}
}

// TestUnresponsiveServer checks that cancelling the context ends Ping if the server does not
// respond, and that the error is ErrLost if the server closes the connection.
func TestUnresponsiveServer(t *testing.T) {
	for _, encrypt := range []string{"disable", "true", "strict"} {
		t.Run(encrypt, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer listener.Close()
			s, err := Open(Config{DSN: "sqlserver://u:p@" + listener.Addr().String() + "?encrypt=" + encrypt})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			ctx, cancel := context.WithCancel(context.Background())
			pinged := make(chan error)
			go func() { pinged <- s.Ping(ctx) }()
			silent, err := listener.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer silent.Close()
			cancel()
			if err := <-pinged; !errors.Is(err, context.Canceled) {
				t.Errorf("Ping without a response: got error %v, want %v", err, context.Canceled)
			}

			go func() { pinged <- s.Ping(context.Background()) }()
			closing, err := listener.Accept()
			if err != nil {
				t.Fatal(err)
			}
			closing.Close()
			if err := <-pinged; !errors.Is(err, ErrLost) {
				t.Errorf("Ping while the connection is closed: got error %v, want %v", err, ErrLost)
			}
		})
	}
}

// TestUnreachable checks the errors for unknown hosts and closed ports.
func TestUnreachable(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	for _, host := range []string{listener.Addr().String(), "whd.invalid"} {
		s, err := Open(Config{DSN: "sqlserver://u:p@" + host})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Ping(context.Background()); !errors.Is(err, ErrLost) {
			t.Errorf("Ping of %s: got error %v, want %v", host, err, ErrLost)
		}
		s.Close()
	}
}
