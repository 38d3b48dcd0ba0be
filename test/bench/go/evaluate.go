package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	celgo "github.com/google/cel-go/cel"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

type expression struct {
	Expr            string         `json:"expr"`
	Minor           uint           `json:"minor"`
	Mode            string         `json:"mode"`
	Object          map[string]any `json:"object"`
	OldObject       map[string]any `json:"oldObject"`
	Params          map[string]any `json:"params"`
	Request         runtimeRequest `json:"request"`
	NamespaceObject *namespace     `json:"namespaceObject"`
	Variables       []variable     `json:"variables"`
	// Times that it is evaluated: Go goes over maps in random order.
	Repeat int `json:"repeat"`
	// Of all expressions of a phase together.
	Budget int64 `json:"budget"`
}

type runtimeRequest struct{ admissionv1.AdmissionRequest }

func (r *runtimeRequest) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &r.AdmissionRequest)
}

type namespace struct{ corev1.Namespace }

func (n *namespace) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &n.Namespace)
}

type variable struct {
	Name       string `json:"name"`
	Expression string `json:"expression"`
}

func (v variable) GetName() string            { return v.Name }
func (v variable) GetExpression() string      { return v.Expression }
func (v variable) ReturnTypes() []*celgo.Type { return []*celgo.Type{celgo.AnyType, celgo.DynType} }

type anything struct{ source string }

func (a anything) GetExpression() string      { return a.source }
func (a anything) ReturnTypes() []*celgo.Type { return []*celgo.Type{celgo.AnyType} }

type compiled struct {
	Ok    bool   `json:"ok"`
	Type  string `json:"type,omitempty"`
	Error string `json:"error,omitempty"`
}

// outcome has one of value, error and fatal: the budget of the phase is spent.
type outcome struct {
	Value any    `json:"value,omitempty"`
	Error string `json:"error,omitempty"`
	Fatal string `json:"fatal,omitempty"`
	Cost  int64  `json:"cost"`
}

type evaluated struct {
	Compile  compiled  `json:"compile"`
	Outcomes []outcome `json:"outcomes,omitempty"`
}

// allVariables are what validations may read.
var allVariables = cel.OptionalVariableDeclarations{HasParams: true, HasAuthorizer: true}

// phase is the compiled expressions of one phase.
type phase interface {
	ForInput(context.Context, *admission.VersionedAttributes, *admissionv1.AdmissionRequest, cel.OptionalVariableBindings, *corev1.Namespace, int64) ([]cel.EvaluationResult, int64, error)
}

// compilers are kept by the minor of their environment: building one takes as long as many expressions.
var compilers = map[uint]cel.Compiler{}

func compilerOf(minor uint) cel.Compiler {
	known, ok := compilers[minor]
	if !ok {
		known = cel.NewCompiler(baseEnvironment(minor))
		compilers[minor] = known
	}
	return known
}

func baseEnvironment(minor uint) *environment.EnvSet {
	return environment.MustBaseEnvSet(version.MajorMinor(1, minor))
}

func modeOf(name string) environment.Type {
	if name == "new" {
		return environment.NewExpressions
	}
	return environment.StoredExpressions
}

func evaluate(asked expression) (any, error) {
	mode := modeOf(asked.Mode)
	var result cel.CompilationResult
	var conditions phase
	if len(asked.Variables) == 0 {
		result = compilerOf(asked.Minor).CompileCELExpression(anything{asked.Expr}, allVariables, mode)
		conditions = cel.NewCondition([]cel.CompilationResult{result})
	} else {
		compiler, err := cel.NewCompositedCompiler(baseEnvironment(asked.Minor))
		if err != nil {
			return nil, err
		}
		for _, one := range asked.Variables {
			compiler.CompileAndStoreVariable(one, allVariables, mode)
		}
		accessor := anything{asked.Expr}
		result = compiler.CompileCELExpression(accessor, allVariables, mode)
		conditions = compiler.CompileCondition([]cel.ExpressionAccessor{accessor}, allVariables, mode)
	}
	if result.Error != nil {
		return evaluated{Compile: compiled{Error: result.Error.Detail}}, nil
	}
	answer := evaluated{Compile: compiled{Ok: true, Type: result.OutputType.String()}}
	seen := map[string]bool{}
	for range max(asked.Repeat, 1) {
		one := run(conditions, asked)
		text, err := json.Marshal(one)
		if err != nil {
			return nil, err
		}
		if !seen[string(text)] {
			seen[string(text)] = true
			answer.Outcomes = append(answer.Outcomes, one)
		}
	}
	return answer, nil
}

func run(conditions phase, asked expression) outcome {
	request := &asked.Request.AdmissionRequest
	bindings := cel.OptionalVariableBindings{Authorizer: authorizer.AuthorizerFunc(noOpinion)}
	if asked.Params != nil {
		bindings.VersionedParams = &unstructured.Unstructured{Object: asked.Params}
	}
	var ns *corev1.Namespace
	if asked.NamespaceObject != nil {
		ns = cel.CreateNamespaceObject(&asked.NamespaceObject.Namespace)
	}
	results, remaining, err := conditions.ForInput(
		context.Background(), attributesOf(request, asked.Object, asked.OldObject), request, bindings, ns, asked.Budget)
	if err != nil {
		var failed *apiservercel.Error
		if errors.As(err, &failed) {
			return outcome{Fatal: failed.Detail}
		}
		return outcome{Fatal: err.Error()}
	}
	cost := asked.Budget - remaining
	if results[0].Error != nil {
		// What stands before the text of the error names the expression, which both sides know.
		prefix := fmt.Sprintf("expression '%v' resulted in error: ", asked.Expr)
		text := results[0].Error.Error()
		_, text, _ = strings.Cut(text, prefix)
		return outcome{Error: text, Cost: cost}
	}
	return outcome{Value: typed(results[0].EvalResult), Cost: cost}
}

func noOpinion(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
	return authorizer.DecisionNoOpinion, "", nil
}

func attributesOf(request *admissionv1.AdmissionRequest, object, oldObject map[string]any) *admission.VersionedAttributes {
	kind := schema.GroupVersionKind(request.Kind)
	options := &unstructured.Unstructured{Object: map[string]any{}}
	if len(request.Options.Raw) > 0 {
		_ = json.Unmarshal(request.Options.Raw, &options.Object)
	}
	dryRun := request.DryRun != nil && *request.DryRun
	newObject, previous := unstructuredOf(object), unstructuredOf(oldObject)
	record := admission.NewAttributesRecord(
		newObject, previous, kind, request.Namespace, request.Name, schema.GroupVersionResource(request.Resource),
		request.SubResource, admission.Operation(request.Operation), options, dryRun, userOf(request))
	return &admission.VersionedAttributes{
		Attributes:         record,
		VersionedObject:    newObject,
		VersionedOldObject: previous,
		VersionedKind:      kind,
	}
}

// unstructuredOf keeps nil a nil interface.
func unstructuredOf(object map[string]any) runtime.Object {
	if object == nil {
		return nil
	}
	return &unstructured.Unstructured{Object: object}
}

func userOf(request *admissionv1.AdmissionRequest) user.Info {
	extra := map[string][]string{}
	for key, values := range request.UserInfo.Extra {
		extra[key] = values
	}
	return &user.DefaultInfo{
		Name:   request.UserInfo.Username,
		UID:    request.UserInfo.UID,
		Groups: request.UserInfo.Groups,
		Extra:  extra,
	}
}
