package files_test

import (
	"encoding/base64"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"testing"
)

func TestAFileIsKeptReadListedAndDeleted(t *testing.T) {
	t.Parallel()
	s := serve(t)
	made := s.upload(`form-data; name="file"; filename="notes.txt"`, "hello\n")
	id := made.str("id")
	want := `{"id":"` + id + `","object":"file","bytes":6,"created_at":1700000000,"expires_at":null,"filename":"notes.txt","purpose":"vision","status":"processed","status_details":null}`
	if made.status != 200 || made.raw != want || len(id) != len("file-")+32 || !strings.HasPrefix(id, "file-") {
		t.Errorf("%d %s, want %s", made.status, made.raw, want)
	}
	if got := s.do("GET", "/files/"+id, ""); got.raw != want {
		t.Errorf("read: %s", got.raw)
	}
	if got := s.do("GET", "/files", ""); got.raw != `{"object":"list","data":[`+want+`],"first_id":"`+id+`","last_id":"`+id+`","has_more":false}` {
		t.Errorf("list: %s", got.raw)
	}
	got := s.do("GET", "/files/"+id+"/content", "")
	if got.raw != "hello\n" || got.header.Get("Content-Type") != "application/octet-stream" || got.header.Get("X-Content-Type-Options") != "nosniff" ||
		got.header.Get("Content-Disposition") != `attachment; filename="notes.txt"` || got.header.Get("Content-Length") != "6" || got.header.Get("X-Request-Id") != "req_1" {
		t.Errorf("content: %q %v", got.raw, got.header)
	}
	if got := s.do("HEAD", "/files/"+id+"/content", ""); got.status != 200 || got.raw != "" || got.header.Get("Content-Length") != "6" {
		t.Errorf("HEAD: %d %v", got.status, got.header)
	}
	if got := s.do("DELETE", "/files/"+id, ""); got.raw != `{"id":"`+id+`","object":"file","deleted":true}` {
		t.Errorf("deleted: %s", got.raw)
	}
	for _, path := range []string{"/files/" + id, "/files/" + id + "/content"} {
		s.do("GET", path, "").refused(404, "file_not_found", "file_id")
	}
	if got := s.do("GET", "/files", ""); got.raw != `{"object":"list","data":[],"first_id":null,"last_id":null,"has_more":false}` {
		t.Errorf("empty list: %s", got.raw)
	}
}

func TestAStrangersFileIsUnknown(t *testing.T) {
	t.Parallel()
	s := serve(t)
	id := s.upload(`form-data; name="file"; filename="x"`, "secret").str("id")
	for _, one := range []string{id, "file-00000000000000000000000000000000", "file-x", "..%2f..%2fetc%2fpasswd", strings.ToUpper(id)} {
		for _, r := range [][2]string{{"GET", "/files/" + one}, {"GET", "/files/" + one + "/content"}, {"DELETE", "/files/" + one}} {
			s.do(r[0], r[1], "", "X-Test-Owner", "bob").refused(404, "file_not_found", "file_id")
		}
	}
	if got := s.do("GET", "/files", "", "X-Test-Owner", "bob"); !strings.Contains(got.raw, `"data":[]`) {
		t.Errorf("bob lists %s", got.raw)
	}
	s.do("GET", "/files?after="+id, "", "X-Test-Owner", "bob").refused(404, "agents.cursor_not_found", "after")
	if got := s.do("GET", "/files/"+id+"/content", ""); got.raw != "secret" {
		t.Errorf("alice reads %q", got.raw)
	}
}

func TestJSONUploadsOfExistingDeployments(t *testing.T) {
	t.Parallel()
	s := serve(t)
	data := base64.StdEncoding.EncodeToString([]byte("\x00binary\xff"))
	made := s.do("POST", "/files", `{"purpose":"user_data","filename":"../b.bin","data":"`+data+`"}`, "Content-Type", "application/json; charset=utf-8")
	if made.str("filename") != "b.bin" || made.body["bytes"] != 8.0 || made.str("purpose") != "user_data" {
		t.Errorf("%d %s", made.status, made.raw)
	}
	if got := s.do("GET", "/files/"+made.str("id")+"/content", ""); got.raw != "\x00binary\xff" {
		t.Errorf("content %q", got.raw)
	}
	for body, param := range map[string]string{
		`{"filename":"x"}`:                                 "data",
		`{"filename":"x","data":"***"}`:                    "data",
		`{"filename":"x","data":5}`:                        "data",
		`{"data":"","purpose":"party"}`:                    "purpose",
		`{"data":"","purpose":""}`:                         "purpose",
		`{"data":"","expires_after":{"anchor":"created"`:   "",
		`{"data":"","expires_after":{"anchor":"created"}}`: "expires_after",
		``: "",
	} {
		code := "invalid_request"
		if param == "expires_after" {
			code = "agents.unsupported"
		}
		s.do("POST", "/files", body, "Content-Type", "application/json").refused(400, code, param)
	}
	if n := s.engine.Kept(); n != 1 {
		t.Errorf("%d files are kept", n)
	}
}

func TestNamesOfFilesDoNoHarm(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for _, c := range []struct{ disposition, name string }{
		{`form-data; name="file"; filename="../../x"`, "x"},
		{`form-data; name="file"; filename="/etc/passwd"`, "passwd"},
		{`form-data; name="file"; filename="C:\\dir\\win.txt"`, "win.txt"},
		{`form-data; name="file"; filename=".."`, "file"},
		{`form-data; name="file"; filename="a/"`, "a"},
		{`form-data; name="file"; filename=""`, "file"},
		{`form-data; name="file"`, "file"},
		{`form-data; name="file"; filename="say \"hi\"; x=y.txt"`, `say "hi"; x=y.txt`},
		{`form-data; name="file"; filename*=UTF-8''a%0d%0aX-Evil%3A%201%00.txt`, "aX-Evil: 1.txt"},
		{`form-data; name="file"; filename*=UTF-8''%e2%80%aegpj.exe`, "gpj.exe"}, // it would read exe.jpg
		{`form-data; name="file"; filename="übung €.txt"`, "übung €.txt"},
		{`form-data; name="file"; filename="bad ` + "\xff" + `.txt"`, "bad \uFFFD.txt"},
		{`form-data; name="file"; filename="` + strings.Repeat("ü", 200) + `"`, strings.Repeat("ü", 127)},
	} {
		made := s.upload(c.disposition, "x")
		if made.str("filename") != c.name {
			t.Errorf("%s: %d %s", c.disposition, made.status, made.raw)
			continue
		}
		got := s.do("GET", "/files/"+made.str("id")+"/content", "")
		header := got.header.Get("Content-Disposition")
		kind, params, err := mime.ParseMediaType(header)
		if err != nil || kind != "attachment" || params["filename"] != c.name || got.header.Get("X-Evil") != "" {
			t.Errorf("%s: %q names %q, %v", c.disposition, header, params["filename"], err)
		}
	}
}

func TestFormsThatHoldNoFileAreRefused(t *testing.T) {
	t.Parallel()
	s := serve(t)
	file := [2]string{`form-data; name="file"; filename="x"`, "content"}
	whole, kind := form(t, file)
	for _, c := range []struct {
		name, body, kind, code, param string
	}{
		{"no form", "hello", "text/plain", "invalid_request", ""},
		{"no type", "hello", "", "invalid_request", ""},
		{"no boundary", whole, "multipart/form-data", "invalid_request", ""},
		{"another boundary", whole, "multipart/form-data; boundary=zzz", "invalid_request", ""},
		{"empty", "", kind, "invalid_request", ""},
		{"cut in the file", whole[:strings.Index(whole, "content")+3], kind, "invalid_request", ""},
		{"cut before the last boundary", strings.TrimSuffix(whole, "--\r\n"), kind, "invalid_request", ""},
	} {
		s.do("POST", "/files", c.body, "Content-Type", c.kind).refused(400, c.code, c.param)
		if s.engine.Kept() != 0 {
			t.Fatalf("%s: kept a file", c.name)
		}
	}
	many := make([][2]string, 40)
	for i := range many {
		many[i] = [2]string{fmt.Sprintf("f%d", i), "x"}
	}
	for _, c := range []struct {
		parts [][2]string
		code  string
		param string
	}{
		{nil, "invalid_request", "file"},
		{[][2]string{{"purpose", "vision"}}, "invalid_request", "file"},
		{[][2]string{file, file}, "invalid_request", "file"},
		{[][2]string{file, {"purpose", "party"}}, "invalid_request", "purpose"},
		{[][2]string{file, {"purpose", strings.Repeat("x", 1000)}}, "invalid_request", "purpose"},
		{[][2]string{file, {"expires_after[seconds]", "3600"}}, "agents.unsupported", "expires_after"},
		{[][2]string{file, {"form-data", "x"}}, "invalid_request", ""},
		{append(many, file), "invalid_request", ""},
	} {
		body, kind := form(t, c.parts...)
		s.do("POST", "/files", body, "Content-Type", kind).refused(400, c.code, c.param)
	}
	if n := s.engine.Kept(); n != 0 {
		t.Errorf("%d files are kept", n)
	}
	body, kind := form(t, [2]string{"future", "x"}, file)
	if got := s.do("POST", "/files", body, "Content-Type", kind); got.status != 200 || got.str("purpose") != "user_data" {
		t.Errorf("a field that is not known: %d %s", got.status, got.raw)
	}
}

func TestABodyAboveTheLimitIsRefused(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.upload(`form-data; name="file"; filename="x"`, strings.Repeat("x", 1<<20)).refused(413, "request_too_large", "")
	if n := s.engine.Kept(); n != 0 {
		t.Errorf("%d files are kept", n)
	}
}

func TestRangesOfAContent(t *testing.T) {
	t.Parallel()
	s := serve(t)
	id := s.upload(`form-data; name="file"; filename="x"`, "0123456789").str("id")
	tag := s.do("GET", "/files/"+id+"/content", "").header.Get("ETag")
	if tag != `"`+strings.TrimPrefix(id, "file-")+`"` {
		t.Errorf("ETag %q", tag)
	}
	for _, c := range []struct {
		asked, ifRange string
		status         int
		want, at       string
	}{
		{"bytes=2-4", "", 206, "234", "bytes 2-4/10"},
		{"bytes=0-0", "", 206, "0", "bytes 0-0/10"},
		{"bytes=7-", "", 206, "789", "bytes 7-9/10"},
		{"bytes=7-99999999999999999999", "", 206, "789", "bytes 7-9/10"},
		{"bytes=-3", "", 206, "789", "bytes 7-9/10"},
		{"bytes=-99", "", 206, "0123456789", "bytes 0-9/10"},
		{"bytes=2-4", tag, 206, "234", "bytes 2-4/10"},
		{"bytes=2-4", `"other"`, 200, "0123456789", ""},
		{"bytes=4-2", "", 200, "0123456789", ""},
		{"bytes=1-2,4-5", "", 200, "0123456789", ""},
		{"bytes=+1-2", "", 200, "0123456789", ""},
		{"bytes=", "", 200, "0123456789", ""},
		{"lines=1-2", "", 200, "0123456789", ""},
		{"bytes=10-", "", 416, "", "bytes */10"},
		{"bytes=99999999999999999999-", "", 416, "", "bytes */10"},
		{"bytes=-0", "", 416, "", "bytes */10"},
	} {
		headers := []string{"Range", c.asked}
		if c.ifRange != "" {
			headers = append(headers, "If-Range", c.ifRange)
		}
		got := s.do("GET", "/files/"+id+"/content", "", headers...)
		if got.status != c.status || got.header.Get("Content-Range") != c.at || c.status != 416 && got.raw != c.want {
			t.Errorf("%s: %d %q %q", c.asked, got.status, got.raw, got.header.Get("Content-Range"))
		}
		if c.status == 416 {
			got.refused(http.StatusRequestedRangeNotSatisfiable, "range_not_satisfiable", "Range")
		}
	}
	for _, c := range []struct {
		have   string
		status int
	}{{tag, 304}, {"W/" + tag, 304}, {`"x", ` + tag, 304}, {"*", 304}, {`"x"`, 200}, {"", 200}} {
		got := s.do("GET", "/files/"+id+"/content", "", "If-None-Match", c.have, "Range", "bytes=0-")
		if c.status == 200 && got.status == 206 {
			got.status = 200
		}
		if got.status != c.status || c.status == 304 && (got.raw != "" || got.header.Get("ETag") != tag || got.header.Get("Content-Range") != "") {
			t.Errorf("If-None-Match %s: %d %q %v", c.have, got.status, got.raw, got.header)
		}
	}
	empty := s.upload(`form-data; name="file"; filename="x"`, "").str("id")
	if got := s.do("GET", "/files/"+empty+"/content", ""); got.status != 200 || got.raw != "" {
		t.Errorf("empty: %d %q", got.status, got.raw)
	}
	s.do("GET", "/files/"+empty+"/content", "", "Range", "bytes=-5").refused(416, "range_not_satisfiable", "Range")
}

func TestListsAreTurnedPageByPage(t *testing.T) {
	t.Parallel()
	s := serve(t)
	var ids []string
	for i := range 250 {
		ids = append(ids, s.engine.Put("alice", fmt.Sprint(i), nil))
	}
	var got []string
	for path := "/files?limit=1000&order=asc"; ; {
		page := s.do("GET", path, "")
		data, _ := page.body["data"].([]any)
		if len(data) > 100 {
			t.Fatalf("%d in a page", len(data))
		}
		for _, d := range data {
			one, _ := d.(map[string]any)
			id, _ := one["id"].(string)
			got = append(got, id)
		}
		if page.body["has_more"] != true {
			break
		}
		path = "/files?limit=1000&order=asc&after=" + page.str("last_id")
	}
	if strings.Join(got, " ") != strings.Join(ids, " ") {
		t.Errorf("%d of %d files", len(got), len(ids))
	}
	if page := s.do("GET", "/files?limit=1", ""); page.str("first_id") != ids[249] || page.body["has_more"] != true {
		t.Errorf("newest first: %s", page.raw)
	}
	if page := s.do("GET", "/files?purpose=vision", ""); !strings.Contains(page.raw, `"data":[]`) {
		t.Errorf("another purpose: %s", page.raw)
	}
	for query, param := range map[string]string{"limit=0": "limit", "limit=10001": "limit", "limit=x": "limit", "order=up": "order"} {
		s.do("GET", "/files?"+query, "").refused(400, "invalid_request", param)
	}
	for _, after := range []string{"x", "file-00000000000000000000000000000000", "file-11111111111111111111111111111111"} {
		s.do("GET", "/files?after="+after, "").refused(404, "agents.cursor_not_found", "after")
	}
}

// A form's boundary is another one each time; the same upload is the same all the
// same.
func TestAKeyedUploadIsKeptOnce(t *testing.T) {
	t.Parallel()
	s := serve(t)
	const part = `form-data; name="file"; filename="a.txt"`
	made := s.upload(part, "hello", "Idempotency-Key", "k")
	if again := s.upload(part, "hello", "Idempotency-Key", "k"); again.status != 200 || again.raw != made.raw {
		t.Errorf("again: %d %s, want %s", again.status, again.raw, made.raw)
	}
	for name, other := range map[string]*answer{
		"content": s.upload(part, "hellO", "Idempotency-Key", "k"),
		"name":    s.upload(`form-data; name="file"; filename="b.txt"`, "hello", "Idempotency-Key", "k"),
		"form":    s.do("POST", "/files", `{"filename":"a.txt","data":"aGVsbG8="}`, "Content-Type", "application/json", "Idempotency-Key", "k"),
	} {
		t.Log(name)
		other.refused(409, "idempotency.mismatch", "")
	}
	body, kind := form(t, [2]string{part, "hello"}, [2]string{"purpose", "batch"})
	s.do("POST", "/files", body, "Content-Type", kind, "Idempotency-Key", "k").refused(409, "idempotency.mismatch", "")
	if n := s.engine.Kept(); n != 1 {
		t.Errorf("%d files", n)
	}
	if other := s.upload(part, "hello", "Idempotency-Key", "k2"); other.str("id") == made.str("id") {
		t.Error("another key gives the same file")
	}
}
