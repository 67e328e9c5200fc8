package perfdata

import (
	"strings"
	"testing"
)

// A window is allocated when it is named: a small file may not name a large one.
func TestWindowOfAStream(t *testing.T) {
	wide := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, (27 - 10) << 3, 0, 0, 0}
	for _, tt := range []struct {
		size uint64
		want string
	}{
		{1 << 10, "window size exceeded"},
		{8<<20 - 1, "window size exceeded"},
		{32 << 20, ""},
		{1 << 62, ""},
	} {
		z := &unzipper{window: windowOf(tt.size)}
		err := z.feed(wide, 0, nil)
		z.close()
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("in %d bytes: %v, want %q", tt.size, err, tt.want)
		}
	}
}
