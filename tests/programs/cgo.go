// SPDX-License-Identifier: MIT

// Four goroutines that keep blocks of C's malloc: 400 of 100,000 bytes each.
package main

/*
#include <stdlib.h>
static __attribute__((noinline)) void *keep(size_t size) { return malloc(size); }
*/
import "C"

import "sync"

func main() {
	var all sync.WaitGroup
	for i := 0; i < 4; i++ {
		all.Add(1)
		go func() {
			for k := 0; k < 400; k++ {
				C.keep(100000)
			}
			all.Done()
		}()
	}
	all.Wait()
}
