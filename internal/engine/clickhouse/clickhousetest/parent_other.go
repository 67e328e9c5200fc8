//go:build !linux

package clickhousetest

import "syscall"

func endWithParent() *syscall.SysProcAttr { return nil }
