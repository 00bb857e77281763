// A service with known delays, in its own process and not in Node, to check the figures of a load test against. It
// answers every POST with a task result after the delay of its mode, and knows how long each request really took: from
// the arrival of its bytes at the socket until its answer was written.
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
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

var (
	mode      = flag.String("mode", "constant", "constant, bimodal, stall or worker")
	delay     = flag.Duration("delay", 20*time.Millisecond, "delay of an answer")
	slow      = flag.Duration("slow", 100*time.Millisecond, "delay of one answer in five (bimodal)")
	stallFor  = flag.Duration("stall", time.Second, "how long nothing is answered (stall)")
	stallEach = flag.Duration("stall-every", 10*time.Second, "how often nothing is answered (stall)")
)

// An answer repeats the ids of its request: one that names another post counts as failed.
type post struct {
	PostID string `json:"post_id"`
	UserID string `json:"user_id"`
}

func (p post) answer() string {
	ids, _ := json.Marshal(p)
	return `{"task_id":"t","triggered_rules":[],` + string(ids[1:])
}

// A service that handles one request at a time: how many it handled, and how long it was busy.
type worker struct {
	sync.Mutex
	free  chan struct{}
	ended time.Time
	count int64
	busy  time.Duration
}

func (w *worker) do(delay time.Duration) {
	came := time.Now()
	w.free <- struct{}{}
	w.Lock()
	if w.ended.After(came) {
		came = w.ended
	}
	w.Unlock()
	time.Sleep(delay)
	w.Lock()
	w.ended = time.Now()
	w.count++
	w.busy += w.ended.Sub(came)
	w.Unlock()
	<-w.free
}

func (w *worker) perSecond() float64 {
	w.Lock()
	defer w.Unlock()
	if w.busy == 0 {
		return 0
	}
	return float64(w.count) / w.busy.Seconds()
}

type truth struct {
	sync.Mutex
	microseconds []int64
	arrivals     []int64
	requests     []request
}

// A request: its post, when its bytes arrived, and between which two times its answer was written, in Unix
// microseconds. The writer may be interrupted, so the exact time is unknown.
type request struct {
	PostID  string `json:"post_id"`
	Arrived int64  `json:"arrived_us"`
	Writing int64  `json:"writing_us"`
	Written int64  `json:"written_us"`
}

func (t *truth) add(postID string, arrived, writing, written time.Time) {
	t.Lock()
	t.microseconds = append(t.microseconds, written.Sub(arrived).Microseconds())
	t.arrivals = append(t.arrivals, arrived.UnixMicro())
	t.requests = append(t.requests, request{postID, arrived.UnixMicro(), writing.UnixMicro(), written.UnixMicro()})
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

func (t *truth) list() []request {
	t.Lock()
	defer t.Unlock()
	return append([]request{}, t.requests...)
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
			// One in ten would put p90 between the two delays, where it says nothing.
			if n%5 == 0 {
				return *slow
			}
		case "stall":
			// At the start of every period, requests wait until the stall is over.
			phase := time.Since(started) % *stallEach
			if phase < *stallFor {
				return *stallFor - phase + *delay
			}
		}
		return *delay
	}
	alone := worker{free: make(chan struct{}, 1)}
	http.HandleFunc("/reached", func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewEncoder(w).Encode(alone.perSecond())
	})
	http.HandleFunc("/reset", func(w http.ResponseWriter, r *http.Request) {
		seen.Lock()
		seen.microseconds, seen.arrivals, seen.requests = nil, nil, nil
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
		var posted post
		body, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(body, &posted)
		answer := posted.answer()
		if at, ok := arrivalOf(r); ok {
			arrived = at
		}
		if *mode == "worker" {
			alone.do(*delay)
		} else if wait := toDelay(); wait > 0 {
			time.Sleep(wait)
		}
		w.Header().Set("content-type", "application/json")
		w.Header().Set("content-length", strconv.Itoa(len(answer)))
		writing := time.Now()
		_, _ = io.WriteString(w, answer)
		w.(http.Flusher).Flush()
		written := time.Now()
		seen.add(posted.PostID, arrived, writing, written)
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
