// Command bayplan-oracle answers, line by line, what Kubernetes' own libraries say about quantities, selectors,
// tolerations and pod requests. Bayplan's tests compare their Python counterparts against it.
//
// One JSON object a line comes in on stdin, one goes out on stdout in the same order:
//
//	{"op": "version"}
//	{"op": "quantity", "text": "1.5Gi"}            or "json": any JSON value, decoded as on the wire
//	{"op": "quantity-sum", "texts": ["1", "1m"]}
//	{"op": "quantity-compare", "left": "1", "right": "1000m"}
//	{"op": "label-selector", "text": "a=b", "labels": [{...}]}    or "selector": a LabelSelector or null
//	{"op": "field-selector", "text": "a=b", "fields": [{...}]}
//	{"op": "node-selector", "selector": NodeSelector, "nodes": [Node]}
//	{"op": "node-affinity", "pod": Pod, "nodes": [Node]}
//	{"op": "tolerations", "tolerations": [...], "taints": [...], "comparison": false}
//	{"op": "pod-requests", "pod": Pod}
//
// An answer is {"answer": ...}; input that Kubernetes refuses gives {"error": text}; a request that makes no sense
// gives {"fault": text}. README.md beside this file says what each answer holds.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"k8s.io/component-base/version"
	sigsjson "sigs.k8s.io/json"
)

// fault is a mistake of the caller, as against a refusal by Kubernetes, which tests look for.
type fault struct{ error }

type operation func(line []byte) (any, error)

var operations = map[string]operation{
	"version":          answerVersion,
	"quantity":         answerQuantity,
	"quantity-sum":     answerSum,
	"quantity-compare": answerCompare,
	"label-selector":   answerLabelSelector,
	"field-selector":   answerFieldSelector,
	"node-selector":    answerNodeSelector,
	"node-affinity":    answerNodeAffinity,
	"tolerations":      answerTolerations,
	"pod-requests":     answerPodRequests,
}

type reply struct {
	Answer any    `json:"answer,omitempty"`
	Error  string `json:"error,omitempty"`
	Fault  string `json:"fault,omitempty"`
}

func main() {
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bayplan-oracle:", err)
		os.Exit(1)
	}
}

func serve(in io.Reader, out io.Writer) error {
	reader, writer := bufio.NewReaderSize(in, 1<<16), bufio.NewWriterSize(out, 1<<16)
	encoder := json.NewEncoder(writer)
	encoder.SetEscapeHTML(false)
	for {
		line, err := reader.ReadBytes('\n')
		if len(line) > 0 {
			if err := encoder.Encode(respond(line)); err != nil {
				return err
			}
		}
		// Answers are held back only while more requests are already here to be answered with them.
		if err != nil || reader.Buffered() == 0 {
			if err := writer.Flush(); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func respond(line []byte) (out reply) {
	// A panic in Kubernetes' code is a finding about one request; the others still deserve their answers.
	defer func() {
		if p := recover(); p != nil {
			out = reply{Error: fmt.Sprint("panic: ", p)}
		}
	}()
	answer, err := dispatch(line)
	var wrong fault
	switch {
	case errors.As(err, &wrong):
		return reply{Fault: wrong.Error()}
	case err != nil:
		return reply{Error: err.Error()}
	}
	return reply{Answer: answer}
}

func dispatch(line []byte) (any, error) {
	var head struct {
		Op string `json:"op"`
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return nil, fault{err}
	}
	answer, known := operations[head.Op]
	if !known {
		return nil, fault{fmt.Errorf("there is no operation %q", head.Op)}
	}
	return answer(line)
}

// decode reads a request as the API server reads an object: field names are case-sensitive.
func decode[T any](line []byte) (T, error) {
	var request T
	if err := sigsjson.UnmarshalCaseSensitivePreserveInts(line, &request); err != nil {
		return request, fault{err}
	}
	return request, nil
}

func answerVersion([]byte) (any, error) {
	return map[string]string{"kubernetes": version.Get().GitVersion}, nil
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
