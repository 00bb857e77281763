package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// A connection that knows by the kernel's clock when the bytes of its last read arrived: while the service waits for a
// core to read them, its client waits, too.
type stampedConn struct {
	net.Conn
	raw       syscall.RawConn
	arrivedNs atomic.Int64
}

type connKey struct{}

type stampedListener struct{ net.Listener }

// A listener whose connections note arrivals for arrivalOf.
func stampArrivals(listener net.Listener) net.Listener { return stampedListener{listener} }

func (l stampedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		return nil, err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) {
		failed = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_TIMESTAMPNS, 1)
	}); err != nil {
		return nil, err
	}
	if failed != nil {
		return nil, failed
	}
	return &stampedConn{Conn: conn, raw: raw}, nil
}

func (c *stampedConn) Read(p []byte) (int, error) {
	var n int
	var failed error
	control := make([]byte, 64)
	err := c.raw.Read(func(fd uintptr) bool {
		var length int
		// A signal leaves the bytes unread, and the poller does not report them again.
		for failed = syscall.EINTR; failed == syscall.EINTR; {
			n, length, _, _, failed = syscall.Recvmsg(int(fd), p, control, 0)
		}
		if failed == syscall.EAGAIN {
			return false
		}
		if n > 0 {
			c.stamp(control[:length])
		}
		return true
	})
	if err != nil {
		return 0, err
	}
	if failed != nil {
		return 0, failed
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (c *stampedConn) stamp(control []byte) {
	messages, err := syscall.ParseSocketControlMessage(control)
	if err != nil {
		return
	}
	for _, message := range messages {
		if message.Header.Level == syscall.SOL_SOCKET && message.Header.Type == syscall.SO_TIMESTAMPNS {
			at := (*syscall.Timespec)(unsafe.Pointer(&message.Data[0]))
			c.arrivedNs.Store(at.Nano())
		}
	}
}

func withConn(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, conn)
}

// When a request's last bytes reached this machine.
func arrivalOf(r *http.Request) (time.Time, bool) {
	conn, ok := r.Context().Value(connKey{}).(*stampedConn)
	if !ok || conn.arrivedNs.Load() == 0 {
		return time.Time{}, false
	}
	return time.Unix(0, conn.arrivedNs.Load()), true
}
