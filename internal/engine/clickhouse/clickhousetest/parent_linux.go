package clickhousetest

import "syscall"

// endWithParent ends the server with the test, however that ends.
func endWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
