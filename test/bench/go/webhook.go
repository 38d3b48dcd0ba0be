package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
)

const (
	// Of the API server whose environment is used.
	webhookMinor = 36
	// Followed by the name of a policy.
	policiesPath = "/validate/policies/"
	// One review for all policies.
	allPath = "/validate/policies"
	// As much as an API server sends.
	maxReviewBytes = 8 << 20
)

// webhook answers reviews by policies as an author of webhooks in Go would, with the API server's own evaluator. It
// matches nothing: every policy that is asked is evaluated.
type webhook struct {
	policies map[string]validating.Validator
	// In the order of the file.
	all []validating.Validator
}

// serveWebhook serves until the process is ended. Arguments: address, certificate file, key file, file with a JSON list
// of policies.
func serveWebhook(arguments []string) error {
	if len(arguments) != 4 {
		return errors.New("webhook: need address, certificate file, key file and file of policies")
	}
	handler, err := loadWebhook(arguments[3])
	if err != nil {
		return err
	}
	server := &http.Server{Addr: arguments[0], Handler: handler}
	return server.ListenAndServeTLS(arguments[1], arguments[2])
}

func loadWebhook(file string) (*webhook, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var policies []admissionregistrationv1.ValidatingAdmissionPolicy
	if err := json.Unmarshal(text, &policies); err != nil {
		return nil, err
	}
	loaded := &webhook{policies: map[string]validating.Validator{}}
	for _, one := range policies {
		if one.Spec.FailurePolicy == nil {
			fail := admissionregistrationv1.Fail
			one.Spec.FailurePolicy = &fail
		}
		compilation, err := newCompilation(measurement{Policy: policy{one}, Minor: webhookMinor})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", one.Name, err)
		}
		validator := compilation.run()
		loaded.policies[one.Name] = validator
		loaded.all = append(loaded.all, validator)
	}
	return loaded, nil
}

func (w *webhook) ServeHTTP(response http.ResponseWriter, request *http.Request) {
	asked := w.all
	if request.URL.Path != allPath {
		validator, ok := w.policies[strings.TrimPrefix(request.URL.Path, policiesPath)]
		if !ok {
			http.Error(response, "no such policy", http.StatusNotFound)
			return
		}
		asked = []validating.Validator{validator}
	}
	text, err := io.ReadAll(io.LimitReader(request.Body, maxReviewBytes))
	if err != nil {
		http.Error(response, err.Error(), http.StatusBadRequest)
		return
	}
	body, err := review(text, asked)
	if err != nil {
		http.Error(response, err.Error(), http.StatusBadRequest)
		return
	}
	response.Header().Set("Content-Type", "application/json")
	response.Header().Set("Content-Length", fmt.Sprint(len(body)))
	_, _ = response.Write(body)
}

func review(text []byte, asked []validating.Validator) ([]byte, error) {
	var admissionReview admissionv1.AdmissionReview
	if err := json.Unmarshal(text, &admissionReview); err != nil {
		return nil, err
	}
	request := admissionReview.Request
	if request == nil {
		return nil, errors.New("a review without a request")
	}
	object, err := objectOf(request.Object)
	if err != nil {
		return nil, err
	}
	oldObject, err := objectOf(request.OldObject)
	if err != nil {
		return nil, err
	}
	// The object is read once, and its activation is made for each policy, as in the API server.
	in := &input{Request: runtimeRequest{*request}, Object: object, OldObject: oldObject}
	answer := &admissionv1.AdmissionResponse{UID: request.UID, Allowed: true}
	for _, validator := range asked {
		for _, one := range validationOf(validator, in)().Decisions {
			if one.Action == validating.ActionDeny {
				answer.Allowed = false
				answer.Result = &metav1.Status{Message: one.Message, Reason: one.Reason}
			}
		}
	}
	admissionReview.Request, admissionReview.Response = nil, answer
	return json.Marshal(&admissionReview)
}

// objectOf keeps integers integers, as the API server does.
func objectOf(raw runtime.RawExtension) (map[string]any, error) {
	if len(raw.Raw) == 0 || string(raw.Raw) == "null" {
		return nil, nil
	}
	var object map[string]any
	err := utiljson.Unmarshal(raw.Raw, &object)
	return object, err
}
