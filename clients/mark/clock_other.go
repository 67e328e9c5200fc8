// SPDX-License-Identifier: Apache-2.0
// Copyright the Isobath authors

//go:build !linux

package mark

// monotonic is not needed: recordings are made on Linux only.
func monotonic() int64 { return 0 }
