package main

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/respjson"
)

// fault ends a case; fail makes one.
type fault struct{ why string }

func fail(format string, a ...any) {
	_, file, line, _ := runtime.Caller(1)
	for skip := 2; strings.HasSuffix(file, "check.go"); skip++ {
		_, file, line, _ = runtime.Caller(skip)
	}
	panic(fault{fmt.Sprintf("%s:%d: ", file[strings.LastIndex(file, "/")+1:], line) + fmt.Sprintf(format, a...)})
}

func eq(got, want any) {
	if !reflect.DeepEqual(got, want) {
		fail("got %#v, want %#v", got, want)
	}
}

func has(text, part string) {
	if !strings.Contains(text, part) {
		fail("no %q in %q", part, text)
	}
}

// must is a call's result.
func must[T any](v T, err error) T {
	ok(err)
	return v
}

func ok(err error) {
	if err != nil {
		fail("%v", told(err))
	}
}

// told is an error with what the server said; the SDK keeps that out of its text.
func told(err error) string {
	if e, ok := err.(*openai.Error); ok {
		return fmt.Sprintf("%d %s", e.StatusCode, e.RawJSON())
	}
	return err.Error()
}

// until asks until the answer is true; the only wait of this program.
func until(ask func() bool) {
	for end := time.Now().Add(20 * time.Second); !ask(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			fail("not so within 20 s")
		}
	}
}

// whole is the value itself, after the check that it lacks nothing that its type has.
// The SDK decodes without validation, but keeps how each field came.
func whole[T any](v T, err error) T {
	ok(err)
	var found []string
	lacks(reflect.ValueOf(v), reflect.TypeOf(v).String(), &found)
	if len(found) > 0 {
		fail("%s", strings.Join(found[:min(len(found), 5)], "; "))
	}
	return v
}

var fieldType = reflect.TypeFor[respjson.Field]()

// lacks collects what is missing or wrong in a value, all the way down.
func lacks(v reflect.Value, at string, found *[]string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			lacks(v.Elem(), at, found)
		}
	case reflect.Slice:
		for i := range v.Len() {
			lacks(v.Index(i), fmt.Sprintf("%s[%d]", at, i), found)
		}
	case reflect.Struct:
		if member := v.MethodByName("AsAny"); member.IsValid() {
			of := member.Call(nil)[0]
			if of.IsNil() {
				if raw := v.MethodByName("RawJSON").Call(nil)[0].String(); raw != "" && raw != "null" {
					*found = append(*found, fmt.Sprintf("%s is none of its union: %.120s", at, raw))
				}
				return
			}
			lacks(of.Elem(), at, found)
			return
		}
		fields(v, at, found)
	}
}

func fields(v reflect.Value, at string, found *[]string) {
	meta := v.FieldByName("JSON")
	if !meta.IsValid() || meta.Kind() != reflect.Struct {
		return
	}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		how := meta.FieldByName(f.Name)
		if !f.IsExported() || !how.IsValid() || how.Type() != fieldType {
			continue
		}
		field, name := how.Interface().(respjson.Field), at+"."+strings.Split(f.Tag.Get("json"), ",")[0]
		word, constant := f.Tag.Lookup("default")
		switch raw := field.Raw(); {
		case raw == "" && (constant || f.Tag.Get("api") == "required"):
			*found = append(*found, name+" is missing")
		case constant && raw != "" && raw != fmt.Sprintf("%q", word):
			*found = append(*found, fmt.Sprintf("%s is %.60s, not %q", name, raw, word))
		case raw != "" && raw != "null" && !field.Valid():
			*found = append(*found, fmt.Sprintf("%s is no %s: %.60s", name, f.Type, raw))
		case field.Valid():
			lacks(v.Field(i), name, found)
		}
	}
}

// cases are played by name; each file adds its own.
var cases = map[string]func(){}

func add(more map[string]func()) bool {
	maps.Copy(cases, more)
	return true
}

// play runs the cases, several at a time, and prints one line for each.
func play(only []string) (failed int) {
	names := slices.Sorted(maps.Keys(cases))
	if len(only) > 0 {
		names = only
	}
	work := make(chan string)
	var mu sync.Mutex
	var wg sync.WaitGroup
	workers, err := strconv.Atoi(os.Getenv("ORACLE_WORKERS"))
	if err != nil {
		workers = 6
	}
	for range workers {
		wg.Go(func() {
			for name := range work {
				start := time.Now()
				why := one(cases[name])
				mu.Lock()
				if why == "" {
					fmt.Printf("ok %s %.2f\n", name, time.Since(start).Seconds())
				} else {
					failed++
					fmt.Printf("FAIL %s: %.1500s\n", name, strings.Join(strings.Fields(why), " "))
				}
				mu.Unlock()
			}
		})
	}
	for _, name := range names {
		work <- name
	}
	close(work)
	wg.Wait()
	fmt.Printf("end %d\n", len(names))
	return failed
}

// one plays a case and says why it failed.
func one(run func()) (why string) {
	defer func() {
		if r := recover(); r != nil {
			why = fmt.Sprint(r)
			if f, ok := r.(fault); ok {
				why = f.why
			}
		}
	}()
	run()
	return ""
}

// counted is a client whose requests are counted under a name.
func counted(name string, more ...option.RequestOption) openai.Client {
	return openai.NewClient(append([]option.RequestOption{
		option.WithUnsafeAllowHTTP(), option.WithBaseURL(os.Getenv("ORACLE_COUNT_URL") + "/v1"), option.WithHeader("X-Case", name),
	}, more...)...)
}

// refused checks that a call gives that very status and code, and that the SDK
// asked once.
func refused(status int, code, name string, call func(openai.Client) error, more ...option.RequestOption) *openai.Error {
	err := call(counted(name, more...))
	e, is := err.(*openai.Error)
	if !is {
		fail("%s was not refused: %v", name, err)
	}
	if e.StatusCode != status || e.Message == "" || e.Type == "" || e.JSON.Param.Raw() == "" || e.Response.Header.Get("X-Request-Id") == "" {
		fail("%s: %d %s", name, e.StatusCode, e.RawJSON())
	}
	if code != "" {
		eq(e.Code, code)
	}
	eq(requestsOf(name), "1")
	return e
}

func requestsOf(name string) string {
	r := must(http.Get(os.Getenv("ORACLE_COUNT_URL") + "/count/" + name))
	defer func() { _ = r.Body.Close() }()
	return string(must(io.ReadAll(r.Body)))
}
