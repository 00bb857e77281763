// Command echo answers every request over HTTP/2 with its path, on Go's own server: echo PORT CERT KEY.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
)

func main() {
	handler := http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		io.Copy(io.Discard, request.Body)
		response.Header().Set("content-type", "application/json")
		fmt.Fprintf(response, `{"path":%q}`, request.URL.Path)
	})
	err := http.ListenAndServeTLS("127.0.0.1:"+os.Args[1], os.Args[2], os.Args[3], handler)
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
