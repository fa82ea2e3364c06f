// SPDX-License-Identifier: MIT

// Writes its heap profile to standard output: keeps() holds 4000 blocks of 10007 bytes, and churns()
// has dropped 10000 of 5003.
package main

import (
	"os"
	"runtime"
	"runtime/pprof"
)

var kept [][]byte

//go:noinline
func keeps(size int) []byte { return make([]byte, size) }

//go:noinline
func churns(size int) byte {
	block := make([]byte, size)
	return block[size/2]
}

func main() {
	runtime.MemProfileRate = 16384
	for i := 0; i < 4000; i++ {
		kept = append(kept, keeps(10007))
	}
	for i := 0; i < 10000; i++ {
		churns(5003)
	}
	runtime.GC()
	if err := pprof.WriteHeapProfile(os.Stdout); err != nil {
		os.Exit(1)
	}
	runtime.KeepAlive(kept)
}
