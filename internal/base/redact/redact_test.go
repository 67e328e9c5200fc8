package redact

import (
	"strings"
	"testing"
)

func TestArgs(t *testing.T) {
	tests := []struct{ in, want string }{
		{"./solver --steps 100 -o out", "./solver --steps 100 -o out"},
		{"db --password hunter2 --host h", "db --password … --host h"},
		{"db --password=hunter2", "db --password=…"},
		{"db --db-password=hunter2 --token-file t", "db --db-password=… --token-file …"},
		{"run API_KEY=abc OMP_NUM_THREADS=4", "run API_KEY=… OMP_NUM_THREADS=4"},
		{"get https://me:hunter2@host/x", "get https://me:…@host/x"},
		{"get https://host/x?y=1", "get https://host/x?y=1"},
		{"x eyJhbGciOi.eyJzdWIi.c2ln", "x …"},
		{"x key=AKIAABCDEFGHIJKLMNOP", "x key=…"},
		{"x ghp_abcdefghijklmnopqrstuvwxyz", "x …"},
		{"--passes 3 --author me --compass 4", "--passes 3 --author me --compass 4"},
		{"--password", "--password"},
		{"env PGPASSWORD=hunter2 MYSQL_ROOT_PASSWORD=x psql", "env PGPASSWORD=… MYSQL_ROOT_PASSWORD=… psql"},
		{"x --clientSecret=abc --accessToken abc --secretKey abc", "x --clientSecret=… --accessToken … --secretKey …"},
		{"train --max-tokens 512 --tokenizer bpe --tokens=7 --passthrough 1", "train --max-tokens 512 --tokenizer bpe --tokens=7 --passthrough 1"},
		{"curl -u me:hunter2 https://h/", "curl -u me:… https://h/"},
		{"docker run -u 1000:1000 image", "docker run -u 1000:1000 image"},
		{"sshpass -p hunter2 ssh h -p 22", "sshpass -p … ssh h -p …"},
		{"/usr/bin/mysql -phunter2 -u me -p db", "/usr/bin/mysql -p… -u me -p db"},
		{"mpirun -np 4 ./solve -p 3", "mpirun -np 4 ./solve -p 3"},
		{"git clone https://0123456789abcdef0123456789@h/x.git", "git clone https://…@h/x.git"},
		{"get https://h/x?a=1&access_token=abc&sig=def", "get https://h/x?a=1&access_token=…&sig=…"},
		{"load jdbc:x://h/db;user=me;password=hunter2;ssl=1", "load jdbc:x://h/db;user=me;password=…;ssl=1"},
		{"x hf_abcdefghijklmnopqrstuvwxyz", "x …"},
	}
	for _, tt := range tests {
		in := strings.Fields(tt.in)
		if got := strings.Join(Args(in), " "); got != tt.want {
			t.Errorf("Args(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// Arguments of several words are read as what they mostly are: scripts, headers,
// whole command lines.
func TestTexts(t *testing.T) {
	tests := []struct{ in, want string }{
		{"export API_TOKEN=abc; ./solve --steps 3", "export API_TOKEN=… ./solve --steps 3"},
		{"./solve --password hunter2\t--steps 3", "./solve --password …\t--steps 3"},
		{`PASSWORD="two words" ./solve`, "PASSWORD=… … ./solve"},
		{"./solve --secret 'two words' 3", "./solve --secret … … 3"},
		{"Authorization: Bearer abc.def", "Authorization: … …"},
		{"X-Api-Key: abc", "X-Api-Key: …"},
		{"Accept: text/html", "Accept: text/html"},
		{"bearer abc def", "…"},
		{"one two  three", "one two  three"},
	}
	for _, tt := range tests {
		if got := Args([]string{"sh", "-c", tt.in})[2]; got != tt.want {
			t.Errorf("%q is %q, want %q", tt.in, got, tt.want)
		}
	}
	if Args(nil) != nil {
		t.Error("no command line becomes one")
	}
}
