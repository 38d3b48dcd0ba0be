// Command peer evaluates CEL with the API server's own packages. It reads one JSON question a line and writes one JSON
// answer a line: a single expression (evaluate.go), or the time that a policy takes (measure.go). With the argument
// webhook it serves reviews over HTTPS instead (webhook.go).
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// A line holds a whole review, and those of tests are as large as an API server takes them.
const maxLineBytes = 64 << 20

type question struct {
	Op string `json:"op"`
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "webhook" {
		fmt.Fprintln(os.Stderr, serveWebhook(os.Args[2:]))
		os.Exit(1)
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 1<<20), maxLineBytes)
	out := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for in.Scan() {
		if err := encoder.Encode(answer(in.Bytes())); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if err := out.Flush(); err != nil {
			os.Exit(1)
		}
	}
	if err := in.Err(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// answer never panics: what the API server's code does not survive is an answer too.
func answer(line []byte) (result any) {
	defer func() {
		if cause := recover(); cause != nil {
			result = map[string]any{"panic": fmt.Sprint(cause)}
		}
	}()
	var asked question
	if err := json.Unmarshal(line, &asked); err != nil {
		return failure(err)
	}
	switch asked.Op {
	case "evaluate":
		return read(line, evaluate)
	case "measure-policy":
		return read(line, measurePolicy)
	case "measure-compile":
		return read(line, measureCompile)
	default:
		return failure(fmt.Errorf("no operation %q", asked.Op))
	}
}

// read decodes with the API server's rule for numbers: without a point and an exponent they are int64 where they fit.
func read[Q any](line []byte, run func(Q) (any, error)) any {
	var asked Q
	if err := utiljson.Unmarshal(line, &asked); err != nil {
		return failure(err)
	}
	result, err := run(asked)
	if err != nil {
		return failure(err)
	}
	return result
}

func failure(err error) any {
	return map[string]any{"failure": err.Error()}
}
