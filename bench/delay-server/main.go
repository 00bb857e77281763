// A service with known delays, in a process of its own and not in Node: what a load test's figures are held against.
// It answers every POST with a task result after the delay that the mode asks for, and knows how long each request
// really took: from its bytes arriving at the socket to its answer being written.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sort"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

var (
	mode      = flag.String("mode", "constant", "constant, bimodal or stall")
	delay     = flag.Duration("delay", 20*time.Millisecond, "delay of an answer")
	slow      = flag.Duration("slow", 100*time.Millisecond, "delay of one answer in five (bimodal)")
	stallFor  = flag.Duration("stall", time.Second, "how long nothing is answered (stall)")
	stallEach = flag.Duration("stall-every", 10*time.Second, "how often nothing is answered (stall)")
)

type truth struct {
	sync.Mutex
	microseconds []int64
	arrivals     []int64
}

func (t *truth) add(arrival time.Time, took time.Duration) {
	t.Lock()
	t.microseconds = append(t.microseconds, took.Microseconds())
	t.arrivals = append(t.arrivals, arrival.UnixMicro())
	t.Unlock()
}

// Percentiles by nearest rank, in milliseconds, and arrivals in each slot of 100 ms.
func (t *truth) report() map[string]any {
	t.Lock()
	defer t.Unlock()
	sorted := append([]int64(nil), t.microseconds...)
	sort.Slice(sorted, func(a, b int) bool { return sorted[a] < sorted[b] })
	at := func(percent float64) float64 {
		if len(sorted) == 0 {
			return 0
		}
		rank := int(percent/100*float64(len(sorted))+0.9999999) - 1
		if rank < 0 {
			rank = 0
		}
		return float64(sorted[rank]) / 1000
	}
	slots := []int{}
	if len(t.arrivals) > 0 {
		first := t.arrivals[0]
		for _, arrival := range t.arrivals {
			if arrival < first {
				first = arrival
			}
		}
		for _, arrival := range t.arrivals {
			slot := int((arrival - first) / 100_000)
			for len(slots) <= slot {
				slots = append(slots, 0)
			}
			slots[slot]++
		}
	}
	return map[string]any{
		"count": len(sorted), "p50": at(50), "p90": at(90), "p99": at(99), "max": at(100), "slots": slots,
	}
}

// When each request arrived, Unix microseconds, and how long it took, in microseconds.
func (t *truth) list() [][2]int64 {
	t.Lock()
	defer t.Unlock()
	all := make([][2]int64, len(t.arrivals))
	for i, arrival := range t.arrivals {
		all[i] = [2]int64{arrival, t.microseconds[i]}
	}
	return all
}

func main() {
	flag.Parse()
	var seen truth
	var served atomic.Int64
	started := time.Now()
	toDelay := func() time.Duration {
		n := served.Add(1)
		switch *mode {
		case "bimodal":
			// One in ten would put p90 on the step between the two, where it says nothing.
			if n%5 == 0 {
				return *slow
			}
		case "stall":
			// At the start of every period, whoever comes waits until the stall is over.
			phase := time.Since(started) % *stallEach
			if phase < *stallFor {
				return *stallFor - phase + *delay
			}
		}
		return *delay
	}
	http.HandleFunc("/reset", func(w http.ResponseWriter, r *http.Request) {
		seen.Lock()
		seen.microseconds, seen.arrivals = nil, nil
		started = time.Now()
		seen.Unlock()
	})
	http.HandleFunc("/truth", func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewEncoder(w).Encode(seen.report())
	})
	http.HandleFunc("/requests", func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewEncoder(w).Encode(seen.list())
	})
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		arrived := time.Now()
		_, _ = io.Copy(io.Discard, r.Body)
		if at, ok := arrivalOf(r); ok {
			arrived = at
		}
		if wait := toDelay(); wait > 0 {
			time.Sleep(wait)
		}
		w.Header().Set("content-type", "application/json")
		_, _ = io.WriteString(w, `{"task_id":"t","post_id":"p","user_id":"u","triggered_rules":[]}`)
		seen.add(arrived, time.Since(arrived))
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("http://%s\n", listener.Addr())
	server := http.Server{ConnContext: withConn}
	go func() { _ = server.Serve(stampArrivals(listener)) }()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	<-stop
}
